"""Refits of lines whose slopes are written down: what trainings would give, without training."""

import numpy as np

import rhale
from rhale.stability.splits import Scheme

N_ROWS = 80
SLOPES = np.array([2.0, 2.6, 1.8, 2.2, 2.4, 2.0])
TRAIN = Scheme("half-samples", SLOPES.size).draw(N_ROWS, seed=1)


def make_table(n_features=2, seed=0):
    return np.random.default_rng(seed).normal(size=(N_ROWS, n_features))


def line(slope, others=0.0):
    """One training: the first feature has this slope, all others another one."""
    return lambda rows: slope * rows[:, 0] + others * rows[:, 1:].sum(axis=1)


def refit_lines(slopes=SLOPES, table=None, train=TRAIN, **options):
    """Refits of lines; `table` has normal features."""
    table = make_table() if table is None else table
    models = [line(slope) for slope in slopes]
    return rhale.refits(models, table, train=train[: len(models)], **options)
