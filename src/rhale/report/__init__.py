"""Finished numbers to one HTML page, or to a small table for a notebook. Loaded on first use."""
