"""A database server that can't be reached for a while, as behind a network that is down."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread


class Proxy:
    """Passes on what is said to a server, until it is cut off."""

    def __init__(self, host: str, port: int) -> None:
        self._server = host, port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._threads: list[Thread] = []
        self._down = False
        self.port: int = self._listening.getsockname()[1]
        self._begin(self._accept)

    def cut(self) -> None:
        """End every connection, and take no new one."""
        self._down = True
        for each in list(self._open):
            _shut(each)

    def restore(self) -> None:
        self._down = False

    def close(self) -> None:
        _shut(self._listening)
        self.cut()
        for thread in self._threads:
            thread.join()

    def _begin(self, target: object, *arguments: socket.socket) -> None:
        self._threads.append(Thread(target=target, args=arguments))  # type: ignore[arg-type]
        self._threads[-1].start()

    def _accept(self) -> None:
        with self._listening, suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._begin(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with client:
            if self._down:
                return
            with socket.create_connection(self._server) as server:
                self._open |= {client, server}
                if self._down:  # since it was looked up
                    return
                back = Thread(target=_pass_on, args=[server, client])
                back.start()
                _pass_on(client, server)
                back.join()
                self._open -= {client, server}


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    _shut(source)
    _shut(target)


def _shut(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy(host: str, port: int) -> Iterator[Proxy]:
    passing = Proxy(host, port)
    try:
        yield passing
    finally:
        passing.close()
