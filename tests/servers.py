"""Database servers of our own, which may be killed, and may have a replica: their data is kept as
by default, on the disk.

They are the one below ``ENGINE_ROOT``, as `.ci/engine` makes it, else the machine's PostgreSQL or
MariaDB.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.patience import PATIENCE

UNAVAILABLE = 69
"""Exit status of a process that finds no server, as that of `.ci/engine`."""
USER = "nobody"
"""Servers don't run as root."""


class NoServer(Exception):
    """There is none that can be started, and why."""


@dataclass(frozen=True, slots=True)
class Kind:
    scheme: str
    superuser: str
    program: str
    """Where it is, with wildcards."""
    options: str
    """``{data}`` and ``{port}`` in them."""
    create: str
    """What makes the data of a new server, with ``{data}`` and the folder ``{programs}``."""


# One that starts deletes all tables in its temporary folder, those of others as well.
_MYSQL = (
    "--no-defaults --datadir={data} --tmpdir={data} --port={port} --bind-address=127.0.0.1 "
    "--skip-log-bin"
)
_SOCKETS = "--socket={data}/socket --pid-file={data}/pid"
POSTGRESQL = Kind(
    "postgresql",
    "postgres",
    "usr/lib/postgresql/*/bin/postgres",
    "-D {data} -p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=",
    "{programs}/initdb -D {data} -A trust -U postgres -E UTF8",
)
MARIADB = Kind(
    "mysql",
    "root",
    "usr/sbin/mariadbd",
    f"{_MYSQL} {_SOCKETS}",
    "mariadb-install-db --no-defaults --datadir={data} --skip-test-db "
    "--auth-root-authentication-method=normal",
)
MYSQL = Kind(
    "mysql",
    "root",
    "usr/sbin/mysqld",
    f"{_MYSQL} {_SOCKETS} --mysqlx=OFF --secure-file-priv=",
    "{programs}/mysqld --no-defaults --datadir={data} --secure-file-priv= --initialize-insecure",
)
_OF_DATA = "--lower-case-table-names"


class Server:
    """One whose data is new, or that of another server, which has not run yet."""

    def __init__(
        self,
        kind: Kind,
        root: Path,
        program: Path,
        folder: Path,
        port: int,
        like: "Server | None" = None,
        made_with: Sequence[str] = (),
    ) -> None:
        self.kind = kind
        self.port = port
        self.data = folder / "data"
        self.options: list[str] = []
        """To be started with."""
        self._process: subprocess.Popen[bytes] | None = None
        self._root = root
        self._program = "/" + str(program.relative_to(root))
        self._log = folder / "log"
        self.url = f"{kind.scheme}://{kind.superuser}@127.0.0.1:{self.port}/crashes"
        if not os.geteuid():
            shutil.chown(folder, USER)
        if like or ("ENGINE_ROOT" in os.environ and not made_with):
            made = like.data if like else root / "srv" / "made"
            subprocess.run(["cp", "-a", made, self.data], check=True)
            # The name of a MySQL; no two of a replication may have the same.
            (self.data / "auto.cnf").unlink(missing_ok=True)
        else:
            create = kind.create.format(data=self._inner, programs=Path(self._program).parent)
            command = self._inside([*create.split(), *made_with])
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        """Run it, and wait until it takes connections."""
        options = self.kind.options.format(data=self._inner, port=self.port).split()
        options += self.options
        give_up = time.monotonic() + PATIENCE
        self._process = self._run(options)
        while not self._listens():
            assert time.monotonic() < give_up, self._log.read_text()[-2000:]
            # PostgreSQL waits for the end of the processes that a killed server has left.
            if self._process.poll() is not None:
                self._process = self._run(options)
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill it with all of its processes, as a crash of the machine does."""
        if self._process is None or self._process.poll() is not None:
            return
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        self._process.kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        self._process.wait()

    @property
    def _inner(self) -> str:
        """The folder of its data as it sees it."""
        return "/" + str(self.data.relative_to(self._root))

    def _run(self, options: Sequence[str]) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._inside([self._program, *options]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _inside(self, command: Sequence[str]) -> list[str]:
        if os.geteuid():
            return list(command)
        return ["chroot", f"--userspec={USER}", str(self._root), *command]

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


@contextmanager
def server(scheme: str, *options: str) -> Iterator[Server]:
    """One of the engines of DATABASE_URLs with that scheme, which runs with these options; its data
    is gone after it.

    Raises ``NoServer``.
    """
    of_data = [each for each in options if each.startswith(_OF_DATA)]
    with _made(scheme, 1, of_data) as (made,):
        made.options = list(options)
        made.start()
        yield made


@contextmanager
def to_kill(*, is_wanted: bool) -> Iterator[Server | None]:
    """As ``server``, of the kind of DATABASE_URL, which then has its address; None if no server is
    to be killed."""
    if not is_wanted:
        yield None
        return
    with server(urlsplit(os.environ.get("DATABASE_URL", "")).scheme) as started:
        os.environ["DATABASE_URL"] = started.url
        yield started


@contextmanager
def replicated(scheme: str) -> Iterator[tuple[Server, Server]]:
    """As ``server``, a primary and what is to be its replica; PostgreSQL's follows it already."""
    with _made(scheme, 2) as (primary, replica):
        if primary.kind is POSTGRESQL:
            follow = f"host=127.0.0.1 port={primary.port} user={primary.kind.superuser}"
            with (replica.data / "postgresql.auto.conf").open("a") as settings:
                settings.write(f"primary_conninfo = '{follow}'\n")
            (replica.data / "standby.signal").touch()
        else:
            primary.options = ["--server-id=1", "--log-bin=changes", "--binlog-format=ROW"]
            replica.options = ["--server-id=2"]
        primary.start()
        replica.start()
        yield primary, replica


@contextmanager
def _made(scheme: str, count: int, options: Sequence[str] = ()) -> Iterator[list[Server]]:
    """So many servers with the same data, that don't run yet. ``options`` are those that the
    data of MySQL is made with."""
    root = Path(os.environ.get("ENGINE_ROOT", "/"))
    kind, program = _find(scheme, root)
    made: list[Server] = []
    with ExitStack() as stack:
        for _ in range(count):
            # PostgreSQL's and MariaDB's names of files are short.
            folder = tempfile.mkdtemp(prefix="own", dir=root / "srv" if root.name else "/tmp")
            stack.callback(shutil.rmtree, folder)
            port, like = stack.enter_context(own_port()), made[0] if made else None
            made.append(
                Server(
                    kind, root, program, Path(folder), port, like, options if kind is MYSQL else ()
                )
            )
            stack.callback(made[-1].kill)
        yield made


@contextmanager
def own_port() -> Iterator[int]:
    """One that nobody else gets while our server is down: the system gives out none of these to
    those who ask for any, and our processes, which have a name for each, take no other's.
    """
    for port in range(20_000, 32_000):
        with socket.socket(socket.AF_UNIX) as name:
            try:
                name.bind(f"\0{__name__} {port}")
                socket.create_server(("127.0.0.1", port)).close()
            except OSError:
                continue
            yield port
            return
    raise NoServer("no port is free from 20000 on")


def _find(scheme: str, root: Path) -> tuple[Kind, Path]:
    kinds = [kind for kind in (POSTGRESQL, MARIADB, MYSQL) if kind.scheme == scheme]
    if not kinds:
        raise NoServer(f"{scheme or 'SQLite'} has no server that could be killed")
    for kind in kinds:
        for program in sorted(root.glob(kind.program), reverse=True):
            return kind, program
    names = " nor ".join(str(root / kind.program) for kind in kinds)
    raise NoServer(f"no server to kill: there is no {names}")
