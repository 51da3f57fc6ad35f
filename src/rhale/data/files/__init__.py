"""Files of rows: found, checked, and read in pieces."""
