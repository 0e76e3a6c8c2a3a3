"""Decodes any id: its candidate schemes, its parts, its other spellings, and its row."""
