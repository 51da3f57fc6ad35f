// Numbers and places as words: the same rules as in wording.py.

const MINUS = "\u2212", UNKNOWN = "\u2013", DAY = 86400000;

function number(value, digits = 3) {
  if (value === null || !Number.isFinite(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    return signed(`${Number(mantissa)}e${Number(power)}`);
  }
  const decimals = size === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  const grouped = size >= 10000;
  return signed(value.toLocaleString("en", { maximumFractionDigits: decimals, useGrouping: grouped }));
}

function signed(text) {
  return text.replaceAll("-", MINUS);
}

function whole(count) {
  return count.toLocaleString("en");
}

// A number of a column whose largest one has four digits, so that the points align.
function fixed(value, largest) {
  if (value === null || !(largest >= 1e-4 && largest < 1e7)) return number(value);
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(largest)));
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return signed(value.toLocaleString("en", digits));
}

function plusMinus(size, error, largest) {
  return error ? `${fixed(size, largest)} ± ${fixed(error, largest)}` : fixed(size, largest);
}

// A place on the axis of a feature, as drawn.
function place(shape, value) {
  if (shape.form === "levels") return shape.labels[value];
  if (shape.form !== "dates") return number(value, 4) + (shape.unit ? ` ${shape.unit}` : "");
  const date = new Date(value).toISOString();
  const span = shape.x.at(-1) - shape.x[0];
  return span > 10 * DAY ? date.slice(0, 10) : date.slice(0, 16).replace("T", " ");
}

// A share of rows.
function inPerCent(share) {
  return `${number(100 * share, 2)} %`;
}

// What a slope is the slope of: "per day", "per h", or nothing to say.
function perUnit(shape) {
  return shape.unit ? ` per ${shape.unit}` : "";
}

// A long name without its middle: names that begin alike are still told apart.
function shorten(name, most) {
  const letters = [...name], half = Math.floor((most - 1) / 2);
  return letters.length <= most ? name : letters.slice(0, half).join("") + "…" + letters.slice(-half).join("");
}

function counted(n, plural) {
  return `${whole(n)} ${n === 1 ? plural.slice(0, -1) : plural}`;
}
