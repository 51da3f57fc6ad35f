"""Interactions: what two features do together beyond what each does alone.

`settings` and `plan` say which pairs, `differences` and `estimate` measure them, `surface` and `strength` make of the sums what is told,
`h_statistic`, `greenwell`, `partial_dependence` and `shap` are the definitions of others; `result`, `plot` and `report` show it.
"""
