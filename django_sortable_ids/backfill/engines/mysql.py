"""MariaDB and MySQL: an UPDATE numbers the rows while it reads them in order."""

from collections.abc import Iterator

from django.db.models import DateField, Q

from ...db.queries import named_rows, value
from ...errors import BackfillError
from ..target import Target
from . import mysql_side_effects, mysql_times
from .base import LOCK_SECONDS, Engine
from .mysql_statements import MySQLStatements, NumberedWhileRead

_LAG_COLUMNS = ("Seconds_Behind_Source", "Seconds_Behind_Master")


class MySQL(Engine):
    sending = MySQLStatements
    computing = NumberedWhileRead
    rows_per_second = (10_000.0, 60_000.0)
    looks_up_ids = True

    def side_effects(self, target: Target) -> Iterator[str]:
        kept = self.statements(target).kept
        return mysql_side_effects.effects(target, self.connection, kept)

    def side_effect_warnings(self, target: Target) -> Iterator[str]:
        return mysql_side_effects.warnings(target, self.connection)

    def check(self, target: Target) -> None:
        mysql_times.check_days(target)

    def check_session(self, target: Target) -> None:
        if "EMPTY_STRING_IS_NULL" in value(self.connection, "SELECT @@sql_mode"):
            raise BackfillError(
                "the sql_mode of the session has EMPTY_STRING_IS_NULL, by which the server stores "
                "NULL where a run stores an empty text: remove it (OPTIONS: sql_mode), at least "
                "for this command; nothing was written."
            )
        mysql_times.check_repeated_hours(target)

    def misread(self, target: Target) -> Q | None:
        is_own = target.source.model is target.model
        has_days = is_own and isinstance(target.source, DateField)
        return mysql_times.is_impossible(target) if has_days else None

    def prepare_session(self) -> None:
        """Set a short lock timeout, and READ COMMITTED: REPEATABLE READ also locks the rows that an
        UPDATE reads but doesn't change.
        """
        with self.connection.cursor() as cursor:
            # The first is for row locks, the second for table locks: LOCK TABLES, ALTER TABLE.
            cursor.execute(f"SET SESSION innodb_lock_wait_timeout = {LOCK_SECONDS}")
            cursor.execute(f"SET SESSION lock_wait_timeout = {LOCK_SECONDS}")
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")

    def end_session(self) -> None:
        self.connection.close()

    def lag_of_replicas(self) -> float | None:
        raise BackfillError(
            "a server of MariaDB or MySQL doesn't know the lag of its replicas: name the database "
            "alias of a replica, --replica ALIAS"
        )

    def lag_of_this_replica(self) -> float | None:
        with self.connection.cursor() as cursor:
            cursor.execute("SHOW REPLICA STATUS")
            sources = named_rows(cursor)
        if not sources:
            raise self._no_replica()
        lag = next(sources[0][name] for name in _LAG_COLUMNS if name in sources[0])
        return None if lag is None else float(lag)
