"""Tables that come in pieces: files, and the tables of engines."""
