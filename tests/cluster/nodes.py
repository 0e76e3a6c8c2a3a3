"""The nodes of the cluster that ``.ci/engine galera10.11`` has started."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SYNCED = "4"


class Node:
    def __init__(self, number: int) -> None:
        self.number = number
        self._folder = Path(os.environ["GALERA_NODES"])
        self.url = self._file("url").read_text().strip()

    def _file(self, kind: str) -> Path:
        return self._folder / f"{self.number}.{kind}"

    @contextmanager
    def session(self) -> Iterator[Any]:
        """A cursor that commits each statement."""
        import MySQLdb

        address = urlsplit(self.url)
        connection = MySQLdb.connect(
            host=address.hostname, port=address.port, user=address.username, autocommit=True
        )
        try:
            with connection.cursor() as cursor:
                yield cursor
        finally:
            connection.close()

    def ask(self, *statements: str) -> list[tuple[Any, ...]]:
        """The rows of the last statement."""
        with self.session() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    def status(self, name: str) -> str:
        return str(self.ask(f"SHOW STATUS LIKE 'wsrep_{name}'")[0][1])

    def takes_part(self) -> bool:
        """Whether it has all data of the cluster, whose other nodes it sees, and answers."""
        import MySQLdb

        try:
            return self.status("local_state") == SYNCED and self.status("cluster_size") == "3"
        except MySQLdb.OperationalError:
            return False

    def kill(self) -> None:
        os.kill(int(self._file("pid").read_text()), signal.SIGKILL)

    def forget(self) -> None:
        """Throws away the data of a node that doesn't run."""
        shutil.rmtree(self._folder / str(self.number))

    def start(self) -> None:
        """Runs until the cluster stops, and is no child of this process."""
        subprocess.run(["sh", "-c", '"$0" &', str(self._file("start"))], check=True)
