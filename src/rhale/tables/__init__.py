"""Any table, as chunks of rows that the model sees in the user's own kind of table."""

from rhale.tables.chunk import Chunk, Table, TableInMemory
from rhale.tables.open import as_matrix, open_table

__all__ = ["Chunk", "Table", "TableInMemory", "as_matrix", "open_table"]
