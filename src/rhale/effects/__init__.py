"""The method, for one feature: local effects, averaged in bins, accumulated into a curve.

| here | what it holds |
| --- | --- |
| `local/` | how every row's local effect is found: gradients, differences, tree steps, levels, profiles |
| `binning/` | cells of the axis, their moments, and the rules that unite them to bins |
| `curve`, `staircase`, `levels` | the effect: accumulated, centred, for numbers, for models that jump, for levels |
| `spread`, `variance`, `statistics` | how rows differ, how sure the curve is, the effect in a few numbers |
| `effect`, `level_effect`, `profile` | results, frozen; `explanation` holds those of all features |
"""
