"""Local effects: what a small change of one feature does to each row's prediction.

| here | model evaluations a row and feature | used for |
| --- | --- | --- |
| `gradient` | one backward pass for all features | models with derivatives |
| `finite_difference` | two | any other model, numbers |
| `tree_steps` | none: trees are walked | ensembles of trees |
| `category_steps` | two | levels |
| `profiles` | one for each point of a grid | partial dependence, ICE, the marginal plot |
| `precomputed` | none | local effects that are already there |

`choose` decides among them, `measure` is what they have in common: ask, add up, conclude.
"""
