"""A network and its rows on a GPU: rows per second, agreement.

Runs by itself, on a CPU too, with fewer rows:

    python benchmarks/bench_gpu.py                           # 5e7 rows on the first CUDA device
    python benchmarks/bench_gpu.py --device cpu --rows 200000

Ratios and agreement are what counts; nothing is asserted about times.
"""

from __future__ import annotations

import argparse
from statistics import median
from time import perf_counter

import numpy as np
import torch
from measuring import Ledger, table_of
from networks import network

import rhale
from rhale.execution.gpu.moments import copy_to_device

N_FEATURES = 8
LEAST_THERE, LEAST_SENT = 115, 90  # million rows a second: rows on the device, on the host
CPU_CHECKED = 1_000_000
FEW_ROWS = 100_000


def timed(work, rounds, device):
    """Median time of several runs, after one that warms up; and what the last one gave."""
    times, answer = [], work()
    for _ in range(rounds):
        wait(device)
        start = perf_counter()
        answer = work()
        wait(device)
        times.append(perf_counter() - start)
    return median(times), answer


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def disagreement(ours, theirs):
    """Largest difference of curves, of their range, and of typical spreads, of their size."""
    curves, spreads = [], []
    for a, b in zip(ours.values(), theirs.values(), strict=True):
        x = np.linspace(max(a.edges[0], b.edges[0]), min(a.edges[-1], b.edges[-1]), 200)
        curves.append(np.abs(a.curve(x) - b.curve(x)).max() / np.ptp(b.curve(x)))
        spreads.append(abs(a.heterogeneity / b.heterogeneity - 1))
    return max(curves), max(spreads)


def per_second(n_rows, time):
    return f"{time:.3f} s, {n_rows / time / 1e6:.1f} million rows/s"


def run(n_rows, device, rounds):
    ledger, model = Ledger(), network(device)
    size = f"8 features, {n_rows:,} rows, float32"
    rows = torch.randn(n_rows, N_FEATURES, device=device, generator=seeded(device))
    host, is_gpu = rows.cpu().numpy(), device.type == "cuda"
    if is_gpu:
        measure_fixed_costs(ledger, model, rows, torch.from_numpy(host), rounds)
    sources = [("rows in the device's memory", rows, LEAST_THERE)] if is_gpu else []
    sources += [
        ("rows in the host's memory", host, LEAST_SENT if is_gpu else None),
        ("the same in float64", host.astype(float), None),
    ]
    for name, data, least in sources:
        time, found = timed(lambda data=data: rhale.explain(model, data), rounds, device)
        ledger.add(
            f"explain, {name}", size, per_second(n_rows, time), "", "",
            "" if least is None else f">= {least} million rows/s",
            met=None if least is None else n_rows / time >= least * 1e6,
        )  # fmt: skip
        del found
    compare(ledger, model, rows[:CPU_CHECKED], device)
    return ledger


def measure_fixed_costs(ledger, model, rows, host, rounds):
    """What rows of the host cost on their way, and what `explain` costs however few rows there are."""
    size = f"8 features, {len(rows):,} rows, float32"
    ways = (lambda: copy_to_device(host, rows.device)), (lambda: host.to(rows.device))
    sent, plain = (timed(way, rounds, rows.device)[0] for way in ways)
    ledger.add(
        "rows sent from the host's memory, against `tensor.to`", size, f"{1e3 * sent:.0f} ms",
        f"{1e3 * plain:.0f} ms", f"{sent / plain:.2f}",
    )  # fmt: skip
    few, _ = timed(lambda: rhale.explain(model, rows[:FEW_ROWS]), rounds, rows.device)
    ledger.add(
        "explain of few rows", f"8 features, {FEW_ROWS:,} rows", f"{1e3 * few:.0f} ms", "", ""
    )


def compare(ledger, model, rows, device):
    """The same rows on this device and on the CPU, in single and in double precision."""
    on_cpu = network(torch.device("cpu"))
    on_cpu.load_state_dict(model.state_dict())
    theirs = rhale.explain(on_cpu, rows.cpu().numpy())
    exact = rhale.explain(on_cpu.double(), rows.cpu().double().numpy())
    ours = rhale.explain(model, rows)
    double = rhale.explain(network(device).double(), rows.double())
    size = f"8 features, {len(rows):,} rows"
    for name, a, b in (
        ("float32, against the CPU", ours, theirs),
        ("float32, against float64 on the CPU", ours, exact),
        ("float64, against the CPU", double, exact),
    ):
        curve, spread = disagreement(a, b)
        same = sum(np.array_equal(e.edges, f.edges) for e, f in zip(a, b, strict=True))
        said = f"{same} of {len(a.features)} features have the same bins"
        told = f"curves differ by {curve:.1e} of their range, spreads by {spread:.1e}"
        ledger.add(f"agreement, {name}", size, told, said, "", "")


def seeded(device):
    generator = torch.Generator(device=device)
    generator.manual_seed(0)
    return generator


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    usual = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=usual, help="where to compute")
    parser.add_argument("--rows", type=float, help="5e7 on a GPU, 2e5 on a CPU")
    parser.add_argument("--rounds", type=int, default=5, help="runs of which the median counts")
    said = parser.parse_args()
    device = torch.device(said.device)
    if device.type == "cuda":
        device = torch.device("cuda", device.index or 0)
    n_rows = int(said.rows or (5e7 if device.type == "cuda" else 2e5))
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    ledger = run(n_rows, device, said.rounds)
    print(f"{name}, torch {torch.__version__.partition('+')[0]}, numpy {np.__version__}\n")
    print(table_of(ledger.lines))


if __name__ == "__main__":
    main()
