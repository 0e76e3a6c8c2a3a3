"""The settings of the example in a language that is written from right to left."""

from config.settings import *  # noqa: F403

LANGUAGE_CODE = "ar"
