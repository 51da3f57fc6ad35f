"""Finished numbers to one HTML page, or to a small table for a notebook. Loaded on first use.

| here | what it holds |
| --- | --- |
| `charts` | Vega specifications without data, one for each kind of chart |
| `inline_svg` | A picture of Matplotlib's as one SVG element of a notebook: no script, no style sheet |
| `notebook` | Effects as small pieces of HTML for notebooks, with sparklines |
| `numbers` | The numbers of one result that its chart, its sparkline and its table show |
| `page` | The page of effects: frozen numbers and words, no HTML |
| `render` | A page rendered to one HTML file that loads nothing |
| `sections` | Interactions, refits and comparisons as sections of the page of effects |
| `sentences` | An effect in plain sentences; numbers, places and names as words |
"""
