"""Finished numbers to one HTML page, or to a small table for a notebook. Loaded on first use.

| here | what it holds |
| --- | --- |
| `charts` | Axes, sizes and marks of Vega-Lite specifications, and the charts of effects |
| `effects` | The section of effects and their regions, and the page that begins with it |
| `inline_svg` | A picture of Matplotlib's as one SVG element of a notebook: no script, no style sheet |
| `notebook` | Effects as small pieces of HTML for notebooks, with sparklines |
| `numbers` | The numbers of one result that its chart, its sparkline and its table show |
| `page` | A page of sections as one HTML file that loads nothing, and words that sections share |
| `sentences` | An effect in plain sentences; numbers, places and names as words |
"""
