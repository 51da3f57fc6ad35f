"""Model files: recognised by content, checked, and only then loaded."""
