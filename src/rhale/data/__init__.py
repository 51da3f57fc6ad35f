"""Any table, as chunks of rows that the model sees in the user's own kind of table.

| here | what it holds |
| --- | --- |
| `array` | NumPy arrays as tables |
| `columns` | Columns of a data frame as numbers, and back: numbers, dates, durations, names |
| `frame` | Data frames as tables: pandas, polars, pyarrow and whatever else narwhals reads |
| `open` | Recognise a table and refuse what is none, with the reason |
| `pieces` | Tables that come in pieces: brought to one set of columns, read ahead, cut to size |
| `replaced` | Tables with other numbers in some of their columns, and rows as they were before |
| `table` | Tables and chunks: what every kind of table must be able to do |
| `weights` | How much each row matters: the column or the numbers that say so, checked |
| `files/` | Files of rows: found, checked, and read in pieces |
"""

from rhale.data.open import as_matrix, open_table
from rhale.data.table import Chunk, Table, TableInMemory

__all__ = ["Chunk", "Table", "TableInMemory", "as_matrix", "open_table"]
