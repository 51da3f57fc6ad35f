"""Comparison: several explanations side by side, at one common zero, and whether they differ beyond chance."""
