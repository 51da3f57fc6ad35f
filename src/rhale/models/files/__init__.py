"""Model files: told apart, checked, and only then loaded."""
