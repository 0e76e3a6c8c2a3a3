"""A project whose admin has the theme that THEME names: a package, and the app of its templates."""
