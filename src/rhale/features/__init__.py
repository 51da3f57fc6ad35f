"""What each column is: the first pass over the rows, and what follows from it."""
