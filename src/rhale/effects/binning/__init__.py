"""Bins of one feature: cells first, moments of the cells, and a rule that unites cells.

| here | cost | pick it when |
| --- | --- | --- |
| `adaptive` | a search over cells | always: bins are constant or linear, as many as the rows can tell apart |
| `optimal` | a search over cells | the paper's bins are wanted, exactly |
| `partition` | none | the limits are known: of equal width, of equal count, given |
"""
