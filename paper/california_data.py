"""California Housing: rows, features and nets beside what the paper says of them."""

from __future__ import annotations

import california
import compare
import numpy as np
import report
from california import FEATURES, NET_A, NET_B, TARGET, Housing, NetSettings

CLAIM = """\
## California Housing: data and nets

`paper/california_data.py`. The paper trains a net on the 1990 census blocks of California, after
dropping rows with missing values and rows with outliers, and lists the features. Its text calls a row
an outlier beyond one standard deviation; its program, and its number of rows, say three.
"""
NO_MISSING = """\
These rows are scikit-learn's version, with its averages turned back into totals. It has no missing
bedrooms, so the 207 rows that the paper dropped for them cannot be told apart and are still here.
"""
STEPS = ("step", "ours", "published")
COLUMNS = ("feature", "min", "max", "mean", "published", "std (divisor n)", "published")
NETS = ("net", "hidden layers", "learning rate", "test MAE, k$", "R²", "published MAE, k$")
# as printed in the paper's table: mean and standard deviation
PRINTED = {
    "longitude": ("-119.58", "2"),
    "latitude": ("35.65", "2.14"),
    "housing_median_age": ("29.01", "12.42"),
    "total_rooms": ("2390.79", "1433.83"),
    "total_bedrooms": ("493.86", "291"),
    "population": ("1310.91", "771.78"),
    "households": ("460.3", "267.34"),
    "median_income": ("3.72", "1.60"),
    TARGET: ("206864.41 (see below)", "see below"),
}
TARGET_NOTE = """\
The published row of the house value is that of the {n_complete} rows before the outliers were dropped
(our mean of these: {mean:.2f}), and its least and largest value are 14999 and 500001 dollars. Some
printed digits are cut off, not rounded. Histograms end a little beyond the last row that was kept.
"""
NET_TEXT = """\
**The nets** have ReLU layers, Glorot weights, Adam, batches of 32 and 15 epochs on the mean squared
error of the standardised target. Net A has the layers and the learning rate of the program, net B
those of the text. The published net was trained by another library, whose draws cannot be repeated.
"""


def draw_histograms(housing: Housing) -> str:
    """All columns, before and after outliers were dropped."""
    names = [f"x{s}: {name}" for s, name in enumerate(FEATURES, start=1)] + [f"y: {TARGET}"]
    with compare.printed(compare.PAGE_WIDTH, 5.2) as figure:
        axes = figure.subplots(3, 3).flat
        for ax, name, column in zip(axes, names, housing.complete, strict=True):
            values = housing.complete[column].to_numpy()
            kept = values[housing.kept]
            end = min(values.max(), kept.max() + 0.4 * np.ptp(kept))
            limits = np.linspace(values.min(), end, 51)
            ax.hist(values, limits, color="#D55E00", label="dropped")
            ax.hist(kept, limits, color="#0072B2", label="kept")
            ax.set_title(name, loc="left")
            ax.tick_params(labelsize=7)
            ax.locator_params(axis="x", nbins=4)
        figure.supylabel("rows", fontsize=8)
        compare.one_legend(figure)
        return report.save(figure, "california_histograms")


def step_rows(housing: Housing) -> list[list[object]]:
    """How many rows are left after each step."""
    x = housing.complete[list(FEATURES)].to_numpy()
    within_one = np.all(np.abs(x - x.mean(0)) <= x.std(0), axis=1)
    return [
        ["rows in the file", housing.n_rows, 20640],
        ["rows without missing values", len(housing.complete), 20433],
        ["dropped: any feature beyond 3 std", int(np.sum(~housing.kept)), 884],
        ["left", int(housing.kept.sum()), 19549],
        ["to train / to test", " / ".join(str(s.size) for s in housing.split), "15639 / 3910"],
        ["left if 1 std were the rule, as printed", int(within_one.sum()), "not given"],
    ]


def feature_rows(housing: Housing) -> list[list[str]]:
    """Range, mean and standard deviation of every column of the kept rows."""
    rows = []
    for column, (mean, std) in zip(housing.complete, PRINTED.values(), strict=True):
        values = housing.complete.loc[housing.kept, column].to_numpy()
        ours = [f"{value:.4f}" for value in (values.mean(), values.std())]
        ends = [f"{value:g}" for value in (values.min(), values.max())]
        rows.append([column, *ends, ours[0], mean, ours[1], std])
    return rows


def net_row(settings: NetSettings, housing: Housing) -> list[object]:
    """Settings of a net and its error on the test rows."""
    error, share = california.held_out_error(california.fitted_net(settings, housing), housing)
    layers = " / ".join(map(str, settings.hidden))
    published = "37" if settings is NET_A else "not given"
    name = f"{settings.name}: {settings.origin}"
    return [name, layers, settings.learning_rate, f"{error / 1e3:.1f}", f"{share:.3f}", published]


def main() -> None:
    """Prepare the rows, train both nets, write the section."""
    housing = california.housing_from_arguments(__doc__)
    steps, nets = step_rows(housing), [net_row(net, housing) for net in (NET_A, NET_B)]
    same = all(ours == theirs for _, ours, theirs in steps[:-1])
    word = "reproduced" if same else "as far as these rows allow"
    verdict = (
        f"**Verdict: {word}.** Rows and features are the published ones"
        f"{'' if same else ' up to the rows that cannot be told apart'}; our nets miss by "
        f"{nets[0][3]} and {nets[1][3]} k$ on the test rows, the published one by 37 k$."
    )
    report.write_part(
        "california_data",
        CLAIM if housing.from_csv else CLAIM + NO_MISSING,
        report.table(STEPS, steps),
        report.table(COLUMNS, feature_rows(housing)),
        TARGET_NOTE.format(n_complete=len(housing.complete), mean=housing.complete[TARGET].mean()),
        draw_histograms(housing),
        NET_TEXT,
        report.table(NETS, nets),
        verdict,
    )


if __name__ == "__main__":
    main()
