"""What all results share on their way out: labels, formats of numbers, notes, plain values for files."""
