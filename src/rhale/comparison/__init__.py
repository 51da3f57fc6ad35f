"""Comparison: several explanations side by side, at one common zero.

| here | what it holds |
| --- | --- |
| `charts` | Charts of comparisons on the page: their numbers, and Vega specifications without data |
| `drift` | Data drift: how the rows of two explanations lie along a feature |
| `feature_comparison` | FeatureComparison: one feature in several explanations, each against the first |
| `plot` | Pictures of comparisons: curves at one zero, their differences, the rows of each |
| `report` | Comparisons on the page and in notebooks: sentences, parts, tables |
| `result` | Comparison: several explanations side by side, at one common zero. What the user holds |
| `table` | Comparisons as rows and as text, and notes on what only some explanations have |
"""
