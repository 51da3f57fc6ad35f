"""The site: `make docs` builds it into site/, without a network."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extensions"))
from members import list_members

project = "rhale"
author = "rhale contributors"
copyright = author  # noqa: A001 - the name that Sphinx asks for
release = version = installed_version("rhale")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "live_pages",
    "mathml",
    "members",
]
exclude_patterns = [
    "_live",
    "extensions",
    "images",
    "templates",
    "**/README.txt",
    "gallery/*.ipynb",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nitpicky = False
suppress_warnings = ["config.cache"]  # functions in the settings of the gallery

# Docstrings
default_role = "py:obj"  # `Effect.curve` in a docstring is a link where there is such a name
autosummary_generate = True
autosummary_imported_members = False
autosummary_context = {
    "list_members": list_members,
    "has_gallery": "sphinx_gallery.gen_gallery" in extensions,
}
autodoc_typehints = "none"  # the sections of numpydoc say them in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the templates of reference/ list them
numpydoc_xref_param_type = False
python_maximum_signature_line_length = 88  # longer ones have a line for each argument
toc_object_entries_show_parents = "hide"
templates_path = ["templates"]

# Links into other projects need a network, so they are asked for: INTERSPHINX=1 make docs
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "matplotlib": ("https://matplotlib.org/stable", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
}
if not os.environ.get("INTERSPHINX"):
    intersphinx_mapping = {}

# Gallery
SECTIONS = (
    *("basics", "plots", "tables", "trees", "regions"),
    *("interactions", "refits", "compare", "units", "models"),
)
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "subsection_order": [f"../examples/gallery/{name}" for name in SECTIONS],
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gallery/used",
    "doc_module": ("rhale",),
    "abort_on_example_error": True,
    "capture_repr": (),  # examples print what they want to show
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 10_000,  # seconds of one build say nothing to readers
    "write_computation_times": False,
    "plot_gallery": "True",
    "parallel": True,  # processes of their own: what they import is not forked with pages
    "show_signature": False,
    "image_srcset": ["2x"],
    "thumbnail_size": (520, 364),
}

# Looks
html_theme = "pydata_sphinx_theme"
html_title = f"rhale {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "show_nav_level": 1,
    "show_toc_level": 2,
    "navigation_depth": 2,
    "header_links_before_dropdown": 8,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_exclude = ".linenos, .gp, .go"
