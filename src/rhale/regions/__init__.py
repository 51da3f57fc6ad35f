"""Regions: rows that differ in their effect, as rules on other features.

| here | what it holds |
| --- | --- |
| `estimate` | Regions within a call: the search between two passes, and results with rules by name |
| `find` | Find regions: search in one half of the rows, test in the other |
| `groups` | Effects in groups of rows: the same sums region by region; groups given by the user |
| `partner_shares` | Partners: the share of a feature's heterogeneity that goes with each other feature |
| `partners` | Partners of a feature as results: kept, ranked and listed |
| `plot` | Pictures of regions: their curves over the common one, the legend, the tree of rules |
| `report` | Regions on the page: sentences, trends, tables and numbers of charts |
| `residuals` | Residuals of local effects: what is left of them about the feature's own curve |
| `result` | RegionTree: rules, their rows, the effect there, and how far to trust the split |
| `rules` | Rules: a small tree of splits, and the region of every row |
| `search` | The search for regions: gains of all cuts from histograms of residuals, pairs of splits, trees |
| `settings` | Settings of regions (searched, or given groups), and the result of a search in numbers |
| `storage` | The schema of saved regions |
| `wording` | Rules as text: who is in a region, in tables, labels and sentences |
"""
