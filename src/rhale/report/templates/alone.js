// A page of pairs, or of trainings, alone: outputs, light and dark, print.

let lastWidth = 0;

async function start(draw, leaveRoom) {
  const kinds = Object.keys(PAGE.charts);
  if (kinds.length) await prepare(kinds);
  const main = find("main");
  const parts = new Parts(main, draw);
  const showOutput = (output) => {
    parts.showOutput(output);
    leaveRoom(parts);
    drawAhead(parts.waiting(), (act) => act());
  };
  lastWidth = main.clientWidth;
  find("#output")?.addEventListener("change", (event) => showOutput(Number(event.target.value)));
  listenToTheme();
  addEventListener("beforeprint", () => parts.drawAll());
  new ResizeObserver(() => requestAnimationFrame(() => {
    if (main.clientWidth === lastWidth) return;
    lastWidth = main.clientWidth;
    leaveRoom(parts);
    parts.resize();
  })).observe(main);
  showOutput(0);
  openAddress();
  document.documentElement.dataset.ready = "true";
}
