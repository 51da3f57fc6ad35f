"""Regions: rows that differ in their effect, as rules on other features.

| here | what it does |
| --- | --- |
| `settings` | what is searched; records of the search |
| `residuals`, `search`, `find` | trees grown in half of the rows, validated in the other half |
| `partner_shares`, `partners` | with which features the spread goes, however they act |
| `groups` | groups that the user names; sums by group |
| `estimate` | regions and partners inside a call |
| `rules`, `wording` | rules, and rules in words |
| `result`, `storage` | what the user holds, and how it is saved |
| `plot`, `report` | pictures and the page |
"""
