"""What all results share on their way out: labels, formats of numbers, notes, plain values for files.

| here | what it holds |
| --- | --- |
| `colours` | Colours, the same in pictures, on pages and in notebooks |
| `columns` | Tables: one list of columns for data frame, `print`, notebook, page and command |
| `doors` | Lazy imports: results draw themselves and show themselves in notebooks |
| `frame` | Columns of values as the user's kind of data frame |
| `labels` | Captions: names and units of features and outputs for people, apart from their keys |
| `number_format` | Numbers, dates and durations as people write them: one rule for texts, notebooks, pages, pictures |
| `text` | Text in columns: widths, names cut to a length, numbers below one another; notes for readers |
| `picture_options` | Options of pictures: their types, defaults and help, for the methods that draw |
| `storage/` | Plain values in files: read as what they must be, arrays packed, each once |
"""
