"""Model files: recognised by content, checked, and only then loaded.

| here | what it holds |
| --- | --- |
| `load` | Models from files: recognised by content and name, never by running what is in them |
| `pickles` | Pickles, whatever their name: found by content, refused unless their very bytes were allowed |
| `skops` | skops files: scikit-learn models rebuilt from a list of known types, unpacked within limits |
| `sandbox` | A call with a model file, made in a process of its own that closes itself off |
"""
