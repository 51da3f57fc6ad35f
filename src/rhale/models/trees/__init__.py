"""Ensembles of trees, read and walked.

| here | what it holds |
| --- | --- |
| `curve_walk` | Curves of rows along features of trees: one walk finds those of all features (numba) |
| `ensemble` | The tree ensemble inside pipelines, searches and wrappers, and who reads it |
| `forest` | A forest as flat arrays, built from the trees of any library |
| `jump_walk` | Walk trees along all branches that the windows of a row can take, and sum its jumps (numba) |
| `leaf_dependences` | Partial dependences of trees, counted in their leaves: exact, in time linear in the rows (numba) |
| `links` | Link functions: from sums of leaves to predictions, and how far a prediction can jump |
| `model` | Tree ensembles: walked once per row for all features, or asked as a black box that says why |
| `pair_links` | Sums of pairs of features in trees, also behind a link |
| `pair_walk` | Walk trees along the branches that two changed columns of a row can take (numba) |
| `read_catboost` | Trees of CatBoost, through its own export |
| `read_model` | From a model to a walker of its trees, verified against the library's own predictions |
| `read_sklearn` | Trees of scikit-learn, from the arrays of its estimators |
| `read_treelite` | Trees of LightGBM and XGBoost, read through treelite |
| `reading` | The result of reading an ensemble: a forest, or the reason why there is none |
| `thresholds` | Thresholds of trees in the user's own units |
| `walk` | Walk trees once per row, and predict for every changed column on the way (numba) |
| `walker` | Walkers: what is done before and after the walk of a forest |
"""
