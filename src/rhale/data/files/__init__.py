"""Files of rows: found, checked, and read in pieces.

| here | what it holds |
| --- | --- |
| `arrow` | Arrow files, Feather and streams: sizes are checked before memory is taken, batches before use |
| `csv` | CSV files in pieces: types that hold for all rows, not only for the first ones |
| `parquet` | Parquet files: row groups and pages are checked, then read in batches |
| `regular` | Regular files, read within limits on size and expansion; damage named in one line |
| `table` | Tables in files, larger than memory: Parquet, CSV, Arrow and Feather, one file or many |
"""
