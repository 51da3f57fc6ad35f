"""Ensembles of trees, read and walked."""
