"""Models whose keys were integers, UUIDs or texts once, and the places where old keys turn up."""
