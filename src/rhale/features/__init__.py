"""What each column is: the first pass over the rows, and what follows from it.

| here | what it holds |
| --- | --- |
| `categories` | Levels of a column: names, pooled rare levels, order; text that holds numbers |
| `feature` | What each feature is (number, date, steps, categories), and the first pass that finds out |
| `naming` | What people read for columns and outputs: what the user says, or else what the model answers |
| `row_columns` | Columns that are no features: target, groups, weights, rows to train and to explain on |
| `survey` | The sums of the first pass: ranges, a bounded sample, a few rows to probe the model with |
"""
