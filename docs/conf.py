"""Settings of the documentation site, which `make docs` builds into docs/_build/html.

The pages are docs/*.md, docs/guide, docs/methods and docs/api. Before Sphinx reads them, `site_pages` copies those that
lie elsewhere in the repository (experiments, bench, CONTRIBUTING, CHANGELOG), `method_pictures` draws a picture of
every method, and sphinx-gallery runs docs/gallery. All of that is written into folders that git ignores.
"""

import os
import sys
import warnings
from pathlib import Path

import matplotlib

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
matplotlib.use("agg")

import method_pictures
import site_pages

import mercer

project = "mercer"
author = "the authors of mercer"
project_copyright = "the authors of mercer; MIT or Apache-2.0"
version = release = mercer.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "**/README.rst", "gallery"]
suppress_warnings = ["config.cache"]  # functions among the settings of the gallery
default_role = "literal"  # names in single backticks
smartquotes = False
nitpicky = False

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence"]

autosummary_generate = True
autosummary_context = {
    "method_pages": {name: page for page, name in method_pictures.classes().items() if name != "KernelBasis"}
}
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False

# Links to other projects need the network while building, so they are off unless asked for.
if os.environ.get("MERCER_DOCS_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "api/examples",
    "doc_module": ("mercer",),
    "reference_url": {"mercer": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,  # times belong into bench/
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib", "site_pages.reset_pictures"),
    "matplotlib_animations": False,
    "plot_gallery": "True",
}

html_theme = "pydata_sphinx_theme"
html_title = f"mercer {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "start": []}
html_theme_options = {
    "logo": {"text": "mercer"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "guide/which": []},
    "pygments_light_style": "github-light-high-contrast",
    "pygments_dark_style": "github-dark-high-contrast",
    "back_to_top_button": False,
}
html_context = {"default_mode": "auto"}

# Examples and pictures print and draw; a warning there would be part of the page.
warnings.filterwarnings("ignore", category=DeprecationWarning)


def setup(app):
    """Write the pages that are made, before Sphinx looks for pages, and mend links as it reads them."""
    here = Path(__file__).parent
    site_pages.write(here)
    method_pictures.write(here / "pictures")
    app.connect("source-read", site_pages.mend)
    app.connect("autodoc-process-docstring", site_pages.escape_shapes, priority=100)  # before numpydoc
