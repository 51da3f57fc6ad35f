import io
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import rhale
from rhale.effects.binning.cells import Grid, uniform_edges
from rhale.effects.binning.fit import fit_effect
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.partition import Cuts, every_cell
from rhale.effects.effect import NO_SAMPLE, LocalEffects
from rhale.effects.level_effect import LevelEffect
from rhale.effects.levels import measure_levels
from rhale.effects.profile import Profile
from rhale.effects.result import Result
from rhale.effects.staircase import Staircase
from rhale.effects.table import Missing
from rhale.interaction.moments import PairAxis, measure_pair
from rhale.interaction.pair_effect import PairEffect, PairIndex
from rhale.interaction.result import Interactions
from rhale.interaction.strength import PairFit, Square
from rhale.regions.result import Region, RegionTree, Split
from rhale.stability.refit_effect import RefitEffect
from rhale.stability.replication import Overlap


def make(levels, step, *, name="city", output="y0", rows=10, noise=0.0, edges=None, **fields):
    """Rows of every level (a number, or one for each) whose steps scatter by `noise`."""
    n_levels, rng = len(levels), np.random.default_rng(7)
    count = np.broadcast_to(rows, n_levels)
    level = np.repeat(np.arange(n_levels), count)
    step = np.append(np.broadcast_to(step, n_levels - 1), 0.0)
    down = np.append(0.0, step[:-1])[level] + noise * rng.normal(size=level.size)
    up = step[level] + noise * rng.normal(size=level.size)
    found = measure_levels(
        level, np.where(level > 0, down, 0.0)[None], np.where(level < n_levels - 1, up, 0.0)[None],
        n_levels,
    )  # fmt: skip
    steps, places = found.steps, np.arange(float(n_levels)) if edges is None else np.array(edges)
    gap = np.diff(places)
    return LevelEffect(
        name, output, tuple(levels), found.count, found.weight, places, steps.count, steps.rows,
        steps.weight, steps.mean[0] / gap, steps.std[0] / gap, steps.correlation[0],
        is_number=edges is not None, **fields,
    )  # fmt: skip


@pytest.fixture
def make_levels():
    return make


def make_stepped():
    """Rows evenly on [0, 4], of a model that jumps up by 2 at 1 and down by 1 at 3.

    Zero on average over the rows, of which 1/4, 1/2 and 1/4 stand before, between and behind, the
    curve is -1.25, 0.75, -0.25. Of two groups of rows one has the first jump higher by 0.1, the
    other lower: its standard error is 0.1 times the root of 2.
    """
    x = np.linspace(0.0, 4.0, 401)
    stairs = Staircase(
        places=np.array([1.0, 3.0]),
        jumps=np.array([2.0, -1.0]),
        near_shares=np.array([0.1, 0.1]),
        row_shares=np.array([0.25, 0.5, 0.25]),
        influence=np.array([[0.1, 0.0], [-0.1, 0.0]]),
        drawn=np.zeros((2, 2)),
        group_shares=np.array([0.5, 0.5]),
        low=0.0,
        high=4.0,
    )
    effect = rhale.effect(x, np.zeros(x.size), bins=rhale.Fixed(4), name="age")
    return replace(effect, stairs=stairs)


@pytest.fixture
def stepped():
    return make_stepped()


MISSING = Missing(5, 0.2, -1.5, 0.5, 25.0)
X = np.linspace(0.0, 10.0, 41)


@pytest.fixture
def every_kind(make_levels):
    number = rhale.effect(X, np.ones(41), bins=2, name="number")
    return [
        replace(number, missing=MISSING),
        replace(number, name="date", kind="date"),
        replace(number, name="duration", kind="duration"),
        make_levels(("1", "2", "5"), [2.0, 6.0], edges=[1.0, 2.0, 5.0], name="steps"),
        make_levels(("b", "a"), 3.0, rows=[10, 30], name="categories", missing=MISSING),
        make_levels(("only",), (), name="one"),
    ]


NASTY = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "line\u2028and\u2029paragraph",
    "half a letter \ud800",
    "{{ 7 * 7 }}{% raw %}",
)


def divide(x, slopes, *, bins=10, state="found", name="age", **fields):
    """An effect with regions of equal size, each over all x, by the slope in each."""
    made = [
        rhale.effect(x, np.broadcast_to(slope, x.size), bins=bins, name=name)
        for slope in slopes.values()
    ]
    whole = sum(np.broadcast_to(slope, x.size) for slope in slopes.values()) / len(slopes)
    regions = [
        Region(rule, x.size, 1 / len(made), one) for rule, one in zip(slopes, made, strict=True)
    ]
    tree = RegionTree(name, "y0", state, "", tuple(regions), **fields)
    return replace(rhale.effect(x, whole, bins=bins, name=name), regions=tree)


@pytest.fixture(scope="session")
def fx():
    """Two features, two outputs."""
    rows = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    return rhale.explain(lambda r: np.column_stack([r[:, 0] ** 2, r[:, 0] * r[:, 1]]), rows)


@pytest.fixture(scope="session")
def nasty(fx):
    """Names that want to be more than names; saved files may hold such, whatever tables can."""
    level = make(["<b>x</b>", "</script><svg onload=alert(3)>"], [1.0], name="]]> <!-- level")
    effects = (*(replace(fx["x0", "y0"], name=name) for name in NASTY), level)
    provenance = {**fx.provenance, "model": "<img src=x onerror=alert(6)>"}
    names = tuple(effect.name for effect in effects)
    return replace(fx, features=names, outputs=("y0",), effects=effects, provenance=provenance)


@pytest.fixture
def make_effect():
    def make(x, d, edges=None, *, name="age", output="y0", linear=False, sample=True):
        x, d = np.asarray(x, dtype=float), np.asarray(d, dtype=float)
        edges = uniform_edges(x.min(), x.max(), 4) if edges is None else np.asarray(edges, float)
        cells = measure_moments(Grid(edges), x, d)
        cuts = every_cell(cells)
        cuts = Cuts(cuts.limits, np.full(cuts.linear.size, linear))
        kept = LocalEffects(x, d, np.ones(x.size)) if sample else NO_SAMPLE
        return replace(fit_effect(name, output, cells, cuts), sample=kept)

    return make


@pytest.fixture
def effect(make_effect):
    rng = np.random.default_rng(0)
    x = rng.random(300)
    return make_effect(x, np.sin(6 * x) + rng.normal(size=300), [0, 0.2, 0.5, 0.6, 1])


@pytest.fixture
def make_refits(make_effect):
    """Straight lines of given slopes, learned from rows that no two trainings share, or from the same."""

    def make(slopes, *, same_rows=False, own=None, results=None, **fields):
        x = np.linspace(0, 1, 101)
        if results is None:
            results = [make_effect(x, np.full(101, slope), **fields) for slope in slopes]
        n_rows = 10 * len(results)
        rows = [np.arange(10 * i, 10 * i + 10) * (not same_rows) for i in range(len(results))]
        overlap = Overlap.of(rows, n_rows)
        curves = np.stack([result.height(result.axis) for result in results])
        if own is not None and not isinstance(own, Result):
            own = make_effect(x, np.full(101, own), **fields)
        gram = curves @ curves.T / curves.shape[1]
        return RefitEffect(tuple(results), overlap, gram, own)

    return make


@pytest.fixture
def make_profile():
    def make(method="ice", *, n_rows=40, n_points=9, name="age"):
        rng = np.random.default_rng(1)
        grid = np.linspace(-1, 1, n_points)
        curves = rng.normal(1, 0.5, (n_rows, 1)) * grid**2 + rng.normal(size=(n_rows, 1))
        shapes = curves - curves.mean(axis=1, keepdims=True)
        covariance = np.atleast_2d(np.cov(shapes.T))
        if method == "mplot":
            covariance = np.diag(curves.var(axis=0, ddof=1))
        kept = (curves, rng.uniform(-1, 1, n_rows)) if method == "ice" else ()
        numbers = (curves.mean(axis=0), curves.std(axis=0, ddof=1), covariance)
        rows, share = np.full(n_points, float(n_rows)), np.full(n_points, 1 / n_points)
        return Profile(name, "y0", method, grid, *numbers, rows, share, *kept)

    return make


@pytest.fixture
def with_regions():
    """An effect with a region for each rule: rules, effects, shares of rows."""

    def make(effect, regions, shares=None, *, state="found", why="", **fields):
        shares = [1 / len(regions)] * len(regions) if shares is None else shares
        made = tuple(
            Region(rule, 100, share, one)
            for (rule, one), share in zip(regions.items(), shares, strict=True)
        )
        tree = RegionTree(effect.name, effect.output, state, why, made, **fields)
        return replace(effect, regions=tree)

    return make


@pytest.fixture
def by_sex(make_effect, with_regions):
    """A slope of 1 for women and of 3 for men, of 2 on average."""
    x = np.linspace(0, 1, 400)
    made = {f"sex = {n}": make_effect(x, np.full(400, s)) for n, s in (("f", 1.0), ("m", 3.0))}
    split = Split(0, "sex", 1, None, ("f",), others=("m",))
    whole = make_effect(x, np.full(400, 2.0))
    return with_regions(whole, made, [0.48, 0.52], splits=(split,), share=0.92, standard_error=0.01)


@pytest.fixture
def find():
    """Artists of the axes by the name that they carry."""
    return lambda ax, name: ax.findobj(lambda artist: artist.get_gid() == f"rhale:{name}")


@pytest.fixture
def one(find):
    def only(ax, name):
        (artist,) = find(ax, name)
        return artist

    return only


@pytest.fixture
def band(one):
    """Limits of a filled band: x, lowest y, highest y."""

    def limits(ax, name):
        corners = one(ax, name).get_paths()[0].vertices
        x = np.unique(corners[:, 0])
        sides = [corners[corners[:, 0] == value, 1] for value in x]
        return x, np.array([s.min() for s in sides]), np.array([s.max() for s in sides])

    return limits


@pytest.fixture
def legend():
    return lambda ax: [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.fixture
def render():
    """Draw for real; a warning is an error."""

    def draw(ax):
        image = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ax.figure.savefig(image, format="png", dpi=50)
        return image.getbuffer().nbytes

    return draw


@pytest.fixture
def make_pair():
    """What two features do together to a function of both, from rows: the effect is known."""

    def ends(axis, stand):
        last = axis.nodes.size - 1
        if not axis.is_levels:
            return [(stand, stand + 1, np.ones(stand.size))]
        below, above = np.maximum(stand - 1, 0), np.minimum(stand + 1, last)
        return [(below, stand, stand > 0), (stand, above, stand < last)]

    def make(function, columns, axes, *, names=("a", "b"), main=None, output="y", weights=None):
        positions = tuple(axis.locate(x) for axis, x in zip(axes, columns, strict=True))
        ways = (ends(axis, s.cell) for axis, s in zip(axes, positions, strict=True))
        one, two = (axis.nodes for axis in axes)
        mixed = [
            known * too * (
                function(one[high], two[up]) - function(one[high], two[down])
                - function(one[low], two[up]) + function(one[low], two[down])
            )
            for (low, high, known), (down, up, too) in product(*ways)
        ]  # fmt: skip
        given = () if weights is None else (weights,)
        moments = measure_pair(axes, positions, np.stack(mixed, -1)[None], *given)
        main = (0 * one, 0 * two) if main is None else main
        flat = any(axis.n_steps == 0 for axis in axes)
        square = Square(0.0, 0.0) if flat else PairFit(axes, moments).square
        return PairEffect(names, output, axes, moments, main, square, variance=1.0)

    return make


@pytest.fixture
def product_pair(make_pair):
    """a b over cells of both, all of which have rows: the surface is a b, without main effects."""
    x = (np.arange(40) + 0.5) / 20 - 1
    columns = tuple(side.ravel() for side in np.meshgrid(x, x, indexing="ij"))
    axis = PairAxis(np.linspace(-1, 1, 5))
    return make_pair(np.multiply, columns, (axis, axis), main=(axis.nodes, 2 * axis.nodes))


@pytest.fixture
def hollow_pair(make_pair):
    """The same where no row is above 0 on both sides, nor in the last cell of the first."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, (2, 4000))
    kept = ((a < 0) | (b < 0)) & (a < 0.5)
    axis = PairAxis(np.linspace(-1, 1, 5))
    return make_pair(np.multiply, (a[kept], b[kept]), (axis, axis))


@pytest.fixture
def level_pair(make_pair):
    """Levels on both sides, each with each as often: d (a - mean) (b - mean), known by hand."""
    a, b = (side.ravel() for side in np.meshgrid(np.arange(3.0), np.arange(2.0), indexing="ij"))
    axes = PairAxis(np.arange(3.0), ("low", "mid", "top")), PairAxis(np.arange(2.0), ("no", "yes"))
    columns = np.tile(a, 30), np.tile(b, 30)
    return make_pair(np.multiply, columns, axes, names=("size", "owner"))


@pytest.fixture
def mixed_pair(make_pair):
    """A number and a level."""
    a = np.tile((np.arange(40) + 0.5) / 20 - 1, 3)
    b = np.repeat(np.arange(3.0), 40)
    axes = PairAxis(np.linspace(-1, 1, 5)), PairAxis(np.arange(3.0), ("low", "mid", "top"))
    return make_pair(np.multiply, (a, b), axes, names=("age", "size"))


@pytest.fixture
def make_pairs():
    """Pairs of given strengths, of a variance of 100; of a second output they are twice as strong."""

    def make(strengths, *, importance=None, names=None, outputs=("y",), method="h"):
        if isinstance(strengths, dict):
            places = {("abcdef".index(i), "abcdef".index(j)): s for (i, j), s in strengths.items()}
            names = list("abcdef") if names is None else names
        else:
            places = {
                (i, j): strengths[i, j] for i in range(len(strengths)) for j in range(i + 1, len(strengths))
            }  # fmt: skip
            names = [f"x{i}" for i in range(len(strengths))] if names is None else names
        n = 1 + max(map(max, places)) if importance is None else len(importance)
        alone = np.ones(n) if importance is None else np.asarray(importance, float)
        pairs = [
            PairIndex((names[i], names[j]), output, method, float(s * (k + 1)), 100.0)
            for (i, j), s in places.items()
            for k, output in enumerate(outputs)
        ]
        wide = np.repeat(alone[:, None], len(outputs), axis=1)
        variance = np.full(len(outputs), 100.0)
        return Interactions(tuple(names[:n]), outputs, tuple(pairs), wide, variance)

    return make
