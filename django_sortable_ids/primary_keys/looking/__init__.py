"""What a move of keys can't change, found by looking: code, templates, URLs, settings and values.

Nothing here is a problem for certain: each finding is a place where somebody has to look.
"""

from .finding import ADVICE, Finding, lines_of
from .look import look

__all__ = ["ADVICE", "Finding", "lines_of", "look"]
