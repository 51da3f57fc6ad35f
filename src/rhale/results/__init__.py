"""The numbers that users hold, and their plain forms: tables, text, files."""
