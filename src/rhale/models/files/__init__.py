"""Model files: recognised by content, checked, and only then loaded.

| here | what it holds |
| --- | --- |
| `load` | Models from files: recognised by content and name, never by running what is in them |
| `pickles` | Files of Python objects: pickles are refused by content, skops files rebuilt from known types |
| `sandbox` | A call with a model file, made in a process of its own that closes itself off |
"""
