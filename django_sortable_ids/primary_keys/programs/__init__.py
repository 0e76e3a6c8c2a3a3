"""Triggers, views and routines of a database that use columns which change."""

from .known import Known
from .problems import problems
from .program import Program

__all__ = ["Known", "Program", "problems"]
