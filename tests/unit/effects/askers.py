"""Askers about tables of the tests, and measures asked about one chunk."""

import numpy as np

from rhale.effects.local.measure import MeasuredChunk, MeasureSample, Replies
from rhale.effects.local.queries import BatchedModel
from rhale.models import meet, wrap


def asker_for(model, chunk, names=("a", "b", "c"), batch_rows=10_000):
    return BatchedModel(meet(wrap(model), chunk)[0], tuple(names), batch_rows)


def rows_of(chunk, key=None):
    """A chunk of which no row is sampled."""
    key = np.arange(chunk.n_rows, dtype=np.uint64) if key is None else key
    return MeasuredChunk(chunk, key, np.empty(0, dtype=np.intp))


def sampled_rows(chunk, key=None):
    """A chunk of which all rows are sampled."""
    key = np.arange(chunk.n_rows, dtype=np.uint64) if key is None else key
    return MeasuredChunk(chunk, key, np.arange(chunk.n_rows))


def no_sampled(measure, n_outputs=1):
    """What a measure keeps of no rows at all."""
    none = np.empty(0)
    return MeasureSample(np.empty((0, measure.n_kept(n_outputs))), none, none.astype(np.uint64))


def local_effects(source, asker, chunk):
    """What a source of local effects makes of the model's answers."""
    rows = rows_of(chunk)
    asked = source.questions(rows)
    return source.local_effects(rows, asked, replies_to(asked, asker, chunk))


def replies_to(asked, asker, chunk):
    base = asker.predictor.predict(chunk.rows, chunk.n_rows)
    asides = tuple(
        asker.ask(chunk.take(one.rows), one.changes)
        if one.rows.size
        else np.empty((len(one.changes), 0, base.shape[1]))
        for one in asked.subset_queries
    )
    return Replies(base, None, asker.ask(chunk, asked.changes), asides)
