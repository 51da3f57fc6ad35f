"""Statistics and numerics that no single method owns.

| here | what it holds |
| --- | --- |
| `arrays` | Arrays: their types, ranks, and frozen records of them, compared by value |
| `distributions` | Quantiles and tails of Student's t, F and chi-square, without SciPy |
| `hash_loop` | Row hashes by a compiled loop (numba): the bits of `stats.sampling` |
| `interpolation` | Piecewise linear functions, read at many places in one search |
| `jit` | Compiled loops: numba where it is installed, with a private cache |
| `sampling` | Samples by hash of the row: independent of the order of rows and of chunks |
"""
