"""How Sphinx builds these pages; `make docs` runs it, and warnings are errors."""

import re
import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import make_reference
import make_results
from docutils import nodes

project = "mien"
author = "The mien developers"
copyright = "the mien developers"
release = version = metadata.version("mien")

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# A page for each name; the docstrings carry the types, so signatures stay short.
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# The pages are built without a network, so nothing can be looked up in other projects' docs.
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|np|scipy|sklearn|matplotlib|rich|pathlib)\..*"),
    (r"py:obj", r"array|zeros|empty|dtype"),  # of NumPy's own text on arrays
    # Names that are public in two packages have their page in one of them.
    (r"py:.*", r"(mien\.(recognition|verification)\.)?(FaceModel|GroupStatistics)"),
]

# Works that only private parts stand on are in the bibliography as well.
suppress_warnings = ["ref.citation", "ref.term"]

html_theme = "furo"
html_math_renderer = "mathml"  # drawn by the browser: no script of another site
html_title = "mien"
html_static_path = ["_static"]
html_css_files = ["mien.css"]
html_copy_source = False
html_show_sourcelink = False

#: Letters of a word of code that stay on one line (see mien.css).
LONG = 28


def _skip_routing(app, what, name, obj, skip, options):
    """Leave out the methods that scikit-learn adds to route metadata."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def _mark_long(app, doctree, docname):
    """Mark code with a long word, which may be broken: in a table it would push others out."""
    for literal in doctree.findall(nodes.literal):
        if max(map(len, literal.astext().split()), default=0) > LONG:
            literal["classes"].append("long")


# Examples are run when the pages are built; their pictures stand on the pages.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1,
    "abort_on_example_error": True,
}


def setup(app):
    """Connect what is above to the build."""
    make_reference.write_all()
    make_results.write_all()
    app.connect("autodoc-skip-member", _skip_routing)
    app.connect("doctree-resolved", _mark_long)
