"""Askers about tables of the tests, and measures asked about one chunk."""

import numpy as np

from rhale.measures.measure import Replies, Rows
from rhale.measures.questions import Asker
from rhale.models import meet, wrap


def asker_for(model, chunk, names=("a", "b", "c"), batch_rows=10_000):
    return Asker(meet(wrap(model), chunk)[0], tuple(names), batch_rows)


def rows_of(chunk, key=None):
    """A chunk of which no row is sampled."""
    key = np.arange(chunk.n_rows, dtype=np.uint64) if key is None else key
    return Rows(chunk, key, np.empty(0, dtype=np.intp))


def local_effects(source, asker, chunk):
    """What a source of local effects makes of the model's answers."""
    rows = rows_of(chunk)
    asked = source.questions(rows)
    return source.local_effects(rows, asked, replies_to(asked, asker, chunk))


def replies_to(asked, asker, chunk):
    base = asker.predictor.predict(chunk.rows, chunk.n_rows)
    return Replies(base, None, asker.ask(chunk, asked.changes))
