"""Regions: which rows differ in their effect, as rules on other features.

`settings` says what is searched, `search` and `find` do it, `holdout` lets other rows decide, `estimate` brings it into a call,
`result` is what the user holds, `plot` and `report` show it. `partners` tell with which feature the spread of another goes.
"""
