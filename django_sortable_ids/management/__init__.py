"""Commands whose output another program reads."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_BROKEN_PIPE = 141
"""The exit code of shells for a process that SIGPIPE ends."""


@contextmanager
def quiet_pipe() -> Iterator[None]:
    """End without a traceback if the reader of the output, such as ``head``, has closed it."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes the rest of the buffer at exit: discard it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_BROKEN_PIPE)
