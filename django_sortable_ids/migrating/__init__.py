"""Migration plans: which are refused, and which migration comes next."""
