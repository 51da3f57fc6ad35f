"""Plain values in files: read as what they must be, arrays packed, each once."""
