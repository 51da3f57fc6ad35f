"""Stability: what would come back if the model were trained again.

`splits` says which rows each training gets, `overlap` and `replication` what the deviation between trainings means,
`refit_effect` and `result` are what the user holds, `plot`, `charts` and `report` show it.
"""
