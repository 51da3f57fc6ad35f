"""Interactions: what two features do together beyond what each does alone.

| here | what it holds |
| --- | --- |
| `api` | interactions(): the steps from a model and a table to Interactions, in order |
| `charts` | Charts of pairs on the page: their numbers, and Vega specifications without data |
| `differences` | Mixed differences of a model: predictions at four corners, or changes of a slope |
| `estimate` | The pass over the rows that measures pairs, and results from its sums |
| `h_statistic` | Other definitions of interaction: the H statistic of Friedman and Popescu, and Greenwell's index |
| `moments` | A pair's axes and cells, and the sums of its mixed differences, cell by cell |
| `pair_effect` | PairEffect: what two features do together beyond what each does alone |
| `pair_profile` | PairProfile: two-way partial dependence; sections of a surface at given values |
| `partial_dependence` | Two-way partial dependence: mean predictions with two features set |
| `plan` | Which pairs are measured, and how: estimator, cells, screening by partners, other definitions |
| `plot` | Pictures of one pair: lines at values of the other feature, and the map of the surface |
| `plot_all` | Pictures of all pairs: the matrix of strengths, and the strongest pairs as bars |
| `report` | Interactions on the page and in notebooks: sentences, parts, tables |
| `result` | Interactions: which pairs of features interact, and how strongly; the result of `rhale.interactions` |
| `settings` | Settings of interactions: which pairs, on which cells, by which differences |
| `shap` | Pairs from SHAP interaction values that another program has computed |
| `storage` | Saved interactions: their schema, without empty cells, nothing twice |
| `strength` | The pure effect of a pair as a surface, and its strength: the deviation over the rows, noise subtracted |
| `table` | Pairs as rows of tables and as text |
"""
