"""How cost grows: time and memory of `explain` against rows, features, trees, outputs, workers.

Runs by itself, each point in a process of its own (on Linux, whose /proc knows the memory):

    python benchmarks/growth.py                 # to 1e6 rows
    python benchmarks/growth.py --full          # to 1e7 rows
    python benchmarks/growth.py --full --write  # table and picture into benchmarks/README.md, too

Answers are asserted, times are not.
"""

import argparse
import ctypes
import gc
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from known_curves import Sines, check_rise
from measuring import Ledger, seconds, table_of

import rhale

README = Path(__file__).with_name("README.md")
PICTURE = README.with_name("growth.png")
MARKS = "<!-- growth: start -->\n", "<!-- growth: end -->"
ROOM = 0.1  # above the slope that is expected: few points, on a machine that does other work too
MOST_RUNS, ENOUGH = 5, 5.0  # runs of one point, and seconds after which no other begins
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Work:
    """What one point measures, the same in small to warm up, and a check of what it answers."""

    run: Callable[[], Any]
    warm_up: Callable[[], Any]
    check: Callable[[Any], None]


@dataclass(frozen=True)
class Course:
    """One thing that grows while the rest stands still, and the steepest slopes that are right."""

    grows: str
    rest: str
    work: Callable[[int], Work]
    sizes: tuple[int, ...]
    steepest: float
    steepest_memory: float


@dataclass(frozen=True)
class Point:
    """What one size costs: seconds of the processor and of the wall, MiB beyond the table."""

    size: int
    processor: float
    wall: float
    memory: float
    importance: list[float]


def sines(n_rows, n_features, n_outputs=1, **options):
    model, small = Sines(n_features, n_outputs), Sines(3, min(n_outputs, 2))
    rows = model.rows(n_rows)
    return Work(
        lambda: model.explain(rows, **options),
        lambda: small.explain(small.rows(300), **options),
        lambda found: model.check(found, rows),
    )


def trees(n_trees):
    import lightgbm

    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (20_000, 10))
    y = 3 * x[:, 0] + np.sin(4 * x[:, 1]) + x[:, 2] * x[:, 3] + 0.1 * rng.normal(size=len(x))
    model = lightgbm.LGBMRegressor(n_estimators=n_trees, verbose=-1, n_jobs=1).fit(x, y)

    def check(found):
        assert found.provenance["answers_walked"] > 0
        check_rise(found[0], model.predict, x)

    return Work(
        lambda: rhale.explain(model, x, n_jobs=1),
        lambda: rhale.explain(model, x[:300], n_jobs=1),
        check,
    )


def hyperbolic(n_workers):
    """A function that takes a microsecond a row, in so many threads."""
    rng = np.random.default_rng(0)
    rows, mixing = rng.standard_normal((400_000, 8)), rng.standard_normal((8, 64))

    def answers(rows):
        return np.tanh(rows @ mixing).sum(axis=1)

    def slopes(rows):
        return (1 - np.tanh(rows @ mixing) ** 2) @ mixing.T

    def explain(rows):
        return rhale.explain(answers, rows, gradient=slopes, n_jobs=n_workers)

    return Work(
        lambda: explain(rows),
        lambda: explain(rows[:300]),
        lambda found: check_rise(found[0], answers, rows),
    )


ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
MORE_ROWS = (3_000_000, 10_000_000)
FEATURES = (3, 10, 30, 100, 300, 1_000)
TREES, OUTPUTS = (10, 30, 100, 300, 1_000), (1, 3, 10, 30, 100, 300)
COURSES = (
    Course("rows", "5 features", partial(sines, n_features=5), ROWS, 1, 0),
    # Partners compare all pairs of features, on a bounded sample of the rows.
    Course("features", "300 rows", partial(sines, 300), FEATURES, 2, 2),
    Course("features", "10,000 rows", partial(sines, 10_000), FEATURES, 2, 2),
    Course(
        "features", "300 rows, no partners", partial(sines, 300, partners=False), FEATURES, 1, 1
    ),
    Course("trees", "10 features, 20,000 rows", trees, TREES, 1, 1),
    Course("outputs", "3 features, 1,000 rows", partial(sines, 1_000, 3), OUTPUTS, 1, 1),
    Course("workers", "8 features, 400,000 rows", hyperbolic, (1, 2), 0, 1),
)


# One point, in a process of its own.


def measure_point(course, size):
    """Memory of the first run, best time of several."""
    work = course.work(size)
    work.warm_up()
    before = settle()
    times, begun = [], perf_counter()
    while len(times) < MOST_RUNS and perf_counter() - begun < ENOUGH:
        start = process_time(), perf_counter()
        found = work.run()
        times.append((process_time() - start[0], perf_counter() - start[1]))
        if len(times) == 1:
            memory = in_memory("VmHWM") - before
    work.check(found)
    processor, wall = (min(each) for each in zip(*times, strict=True))
    return Point(size, processor, wall, memory, [effect.importance for effect in found.values()])


def settle():
    """Give free memory back and forget the peak so far; say what is held, in MiB."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return in_memory("VmRSS")


def in_memory(name):
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024


# All points, their slopes, and the table.


def measure_course(place, course):
    points = []
    for size in course.sizes:
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, __file__, "--point", str(place), str(size)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={**os.environ, **ONE_THREAD},
        )
        points.append(Point(**json.loads(done.stdout)))
        print(f"{course.grows}, {course.rest}: {size:,}", file=sys.stderr)
    if course.grows == "workers":
        assert points[0].importance == points[-1].importance  # to the bit
    return points


def slope(points, name):
    """Slope in log-log over the last decade."""
    last = [p for p in points if p.size >= points[-1].size / 10]
    size, cost = np.log([(p.size, getattr(p, name)) for p in last]).T
    return np.polyfit(size, cost, 1)[0]


def put_down(ledger, course, points):
    """Three lines of the table at most: time of the processor, of the wall, and memory."""
    first, last = points[0], points[-1]
    size = f"{course.rest}; {first.size:,} to {last.size:,}"

    def line(what, name, said, steepest):
        found = slope(points, name)
        ledger.add(
            f"{what} against {course.grows}",
            size,
            said(getattr(last, name)),
            said(getattr(first, name)),
            f"slope {found:.2f}",
            "" if steepest is None else f"<= {steepest}",
            met=None if steepest is None else bool(found <= steepest + ROOM),
        )

    line("time", "processor", seconds, course.steepest)
    if course.grows == "workers":
        line("time of the wall", "wall", seconds, None)
    line("memory", "memory", "{:.3g} MiB".format, course.steepest_memory)


# The picture.


def draw(measured):
    """One row of panels for each thing that grows: time on the left, memory on the right."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    things = list(dict.fromkeys(course.grows for course, _ in measured))
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(9, 10), layout="constrained")
        panels = figure.subplots(len(things), 2)
        for thing, (left, right) in zip(things, panels, strict=True):
            courses = [(c.rest, points) for c, points in measured if c.grows == thing]
            times = [(rest, points, "processor") for rest, points in courses]
            if thing == "workers":
                points = courses[0][1]
                times = [(clock, points, clock) for clock in ("processor", "wall")]
            left.set_title(f"time against {thing}")
            right.set_title(f"memory against {thing}")
            fill(left, times, seconds)
            fill(right, [(*course, "memory") for course in courses], "{:,g} MiB".format)
        figure.savefig(PICTURE, dpi=100)


def fill(panel, lines, said):
    """Draw lines on logarithmic axes; their names and slopes stand beside the panel."""
    from rhale.plots.style import LINE_STYLES

    for (label, points, name), look in zip(lines, LINE_STYLES, strict=False):
        panel.loglog(
            [p.size for p in points],
            [getattr(p, name) for p in points],
            color=look.colour,
            marker=look.marker,
            markersize=4,
            label=f"{label}, slope {slope(points, name):.2f}".replace(", ", "\n"),
        )
    costs = np.log10(panel.dataLim.intervaly)
    panel.set_ylim(10 ** np.floor(costs[0]), 10 ** np.ceil(costs[1]))
    panel.yaxis.set_major_formatter(lambda value, _: said(value))
    panel.xaxis.set_major_formatter(lambda value, _: plain(value))
    panel.minorticks_off()
    panel.set_xticks(places([p.size for p in lines[0][1]]))
    panel.grid(alpha=0.3, linewidth=0.5)
    panel.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), handlelength=1.5)


def places(sizes):
    """Powers of ten among the sizes, every other one of many; all sizes where they are few."""
    powers = [size for size in sizes if np.log10(size) % 1 == 0]
    return sizes if len(sizes) < 3 else powers[:: 2 if len(powers) > 3 else 1]


def plain(value):
    return f"{value:,g}" if value < 1e6 else f"{value / 1e6:g} million"


def settings():
    names = ", ".join(f"{n} {version(n).partition('+')[0]}" for n in ("numpy", "numba", "lightgbm"))
    busy = f"load average {os.getloadavg()[1]:.1f} over the last five minutes"
    return f"Python {platform.python_version()}, {names}; {os.cpu_count()} cores, {busy}."


def write(table):
    text = f"{settings()}\n\n![Time and memory]({PICTURE.name})\n\n{table}\n"
    page = README.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(MARKS[0])}.*?{re.escape(MARKS[1])}", re.DOTALL)
    README.write_text(pattern.sub(lambda _: MARKS[0] + text + MARKS[1], page), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="up to 1e7 rows")
    parser.add_argument("--write", action="store_true", help="put table and picture into README.md")
    parser.add_argument("--point", nargs=2, type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.point:
        place, size = asked.point
        print(json.dumps(asdict(measure_point(COURSES[place], size))))
        return
    courses = [
        replace(c, sizes=c.sizes + MORE_ROWS) if asked.full and c.grows == "rows" else c
        for c in COURSES
    ]
    measured = [(course, measure_course(place, course)) for place, course in enumerate(courses)]
    ledger = Ledger()
    for course, points in measured:
        put_down(ledger, course, points)
    table = table_of(ledger.lines)
    print(table)
    if asked.write:
        draw(measured)
        write(table)


if __name__ == "__main__":
    main()
