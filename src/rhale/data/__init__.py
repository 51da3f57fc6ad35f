"""Any table, as chunks of rows that the model sees in the user's own kind of table."""

from rhale.data.open import as_matrix, open_table
from rhale.data.table import Chunk, Table, TableInMemory

__all__ = ["Chunk", "Table", "TableInMemory", "as_matrix", "open_table"]
