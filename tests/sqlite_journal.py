"""The journal of the file that SQLite tests share."""

import contextlib
import gc

from django.db import OperationalError, connection

from .patience import wait_until


def set_journal_mode(mode: str) -> None:
    """SQLite refuses it at once, without a wait, while another connection to the file is open.

    That is one of a process that was just killed, say. Or one that Django has closed: SQLite keeps
    it as long as a cursor of it lives, and the traceback of an error holds one, in a circle that
    only the garbage collector finds.
    """

    def is_set() -> bool:
        gc.collect()
        with contextlib.suppress(OperationalError), connection.cursor() as cursor:
            cursor.execute(f"PRAGMA journal_mode={mode}")
            return bool(cursor.fetchone() == (mode,))
        return False

    wait_until(is_set, "the last connection beside the test's is closed")
