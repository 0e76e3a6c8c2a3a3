"""Plans of migrations: what of them is refused, and which migration comes next."""
