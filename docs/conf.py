"""The documentation site: ``sphinx-build -W --keep-going -b html docs docs/_build``."""

import django
from django.conf import settings

from django_sortable_ids import __version__

# Autodoc imports the fields, and Django wants its apps for that.
settings.configure(
    INSTALLED_APPS=[
        "django.contrib.contenttypes",
        "django.contrib.auth",
        "django.contrib.messages",
        "django.contrib.admin",
        "rest_framework",
        "django_sortable_ids",
    ],
    USE_TZ=True,
)
django.setup()

project = "django-sortable-ids"
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
# Links to headings, as GitHub makes them: page.md#a-heading.
myst_heading_anchors = 4

autodoc_typehints = "none"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"django-sortable-ids {release}"
html_show_copyright = False
html_use_index = False
html_static_path = ["_static"]
html_favicon = "_static/icon.svg"
html_css_files = ["tables.css"]
