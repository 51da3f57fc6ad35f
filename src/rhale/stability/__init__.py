"""Stability: what would come back if the model were trained again.

| here | what it holds |
| --- | --- |
| `api` | refit() and refits(): the steps from a learner, or fitted models, and a table to Refits |
| `charts` | Charts of refits on the page: their numbers, and Vega specifications without data |
| `compare` | From one result per training to a RefitEffect, its regions included |
| `plot` | Pictures of refits: curves of all trainings, and which importances would replicate |
| `refit_effect` | RefitEffect and RefitPair: one feature, or two, in several trainings of a learner |
| `replication` | Replication: what curves of several trainings share beyond chance, given the rows they share |
| `report` | Refits on the page and in notebooks: sentences, parts, tables |
| `result` | Refits: the effects of a learner in several trainings; the result of `rhale.refit` |
| `splits` | Which rows each training gets: half-samples, subsamples, folds, bootstraps, the user's own |
| `storage` | Saved refits: their schema; what all trainings share is written once |
| `table` | Refits as rows of tables and as text |
"""
