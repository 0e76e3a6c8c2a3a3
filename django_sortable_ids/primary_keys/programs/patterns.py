"""How the texts of programs are split into tokens, for ``schema.sql_tokens.split``."""

from __future__ import annotations

_WORDS = r"""
    |(?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*)
    |(?P<other>[0-9][A-Za-z0-9_.]*|.)
"""
# Texts, not compiled: that takes milliseconds, and few processes need them.
SQLITE = (
    r"""(?xs)
    (?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*')
    """
    + _WORDS
)
MYSQL = (
    r"""(?xs)
    (?P<space>\s+|--(?=\s)[^\n]*|\#[^\n]*|/\*.*?\*/)
    |(?P<quoted>`(?:[^`]|``)*`|'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*")
    """
    + _WORDS
)
"""Whether a text in double quotes is a name depends on the sql_mode: it is taken for one."""
POSTGRESQL = (
    r"""(?xs)
    (?P<space>\s+|--[^\n]*|/\*.*?\*/)
    |(?P<quoted>"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?\$(?P=tag)\$)
    """
    + _WORDS
)
