"""Takes any id apart: its candidate schemes, its parts, its other spellings, and its row."""
