"""The texts of ids."""
