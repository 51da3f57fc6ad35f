"""Ensembles of trees, read and walked.

| here | what it holds |
| --- | --- |
| `combined` | Estimators that combine ensembles: averages, stacks, calibrated ones |
| `curve_walk` | Curves of rows along features of trees: one walk finds those of all features (numba) |
| `ensemble` | The tree ensemble inside pipelines, searches and wrappers, and who reads it |
| `forest` | A forest as flat arrays, built from the trees of any library, and its thresholds in the user's units |
| `jump_walk` | Walk trees along all branches that the windows of a row can take, and sum its jumps (numba) |
| `leaf_dependences` | Partial dependences of trees, counted in their leaves: exact, in time linear in the rows (numba) |
| `links` | Link functions: from sums of leaves to predictions, and how far a prediction can jump |
| `model` | Tree ensembles: walked once per row for all features, or asked as a black box that says why |
| `pair_walk` | Walk trees along the branches that two changed columns of a row can take, also behind a link (numba) |
| `read_model` | From a model to a walker of its trees, verified against the library's own predictions |
| `readers` | Trees of scikit-learn and CatBoost, from their own arrays, and of LightGBM and XGBoost, by treelite |
| `reading` | The result of reading an ensemble: a forest, or the reason why there is none |
| `walk` | Walk trees once per row, and predict for every changed column on the way (numba) |
| `walker` | Walkers: what is done before and after the walk of a forest |
"""
