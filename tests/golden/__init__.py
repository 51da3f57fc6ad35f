"""Saved results of many calls, to see that a change of the house changes no number."""
