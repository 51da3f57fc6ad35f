"""Rows and local effects whose regions are known, for the tests of the search."""

import numpy as np

from rhale.regions.settings import SearchRows, Target


def rows_of(values, *, n_levels=None, weight=None, checks=None):
    """Rows that search and check in turn."""
    n_rows, n_splitters = values.shape
    return SearchRows(
        values=values,
        n_levels=np.zeros(n_splitters, dtype=int) if n_levels is None else np.array(n_levels),
        weight=np.ones(n_rows) if weight is None else weight,
        is_holdout=np.arange(n_rows) % 2 == 1 if checks is None else checks,
    )


def target_of(x, effects, *, own=0, scale=1.0, roughness=0.0, shared=None):
    """A feature with one local effect in every row."""
    shared = np.zeros(x.size) if shared is None else shared
    return Target(np.arange(x.size), x, effects, shared, roughness, None, own, scale)


def splitters_of(found):
    return [rule.splitter for rule in found.rules]


def uniform(n_rows, n_splitters, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (n_rows, n_splitters))
