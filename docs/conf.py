"""The documentation's site: Sphinx with MyST and furo; `nox -s docs` builds it.

What the code knows is not written twice: settings, commands, the API and the models that ship
become pages when the site is built.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tools"))

import docs_pages  # noqa: E402 - a script beside the packages

project = "Arbora"
author = "the Arbora maintainers"
project_copyright = "the Arbora maintainers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# Links to files of the repository that are no pages lead to it as they are.
myst_all_links_external = False
suppress_warnings = ["myst.xref_missing", "myst.header", "misc.highlighting_failure"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
html_theme = "furo"
html_title = "Arbora"
html_static_path = []
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f6f54", "color-brand-content": "#1f6f54"},
    "dark_css_variables": {"color-brand-primary": "#6fcfa6", "color-brand-content": "#6fcfa6"},
}

docs_pages.write_pages(HERE)
