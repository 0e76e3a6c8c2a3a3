"""Which keys change, and which columns contain their values: data, for every database."""

from .graph import Change, Column, Key, Table, Texts, Values

__all__ = ["Change", "Column", "Key", "Table", "Texts", "Values"]
