# SPDX-License-Identifier: Apache-2.0
"""Streams between processes of the machine."""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple, Self

from . import _core
from .arrays import Array
from .devices import DeviceLike
from .devices import device as find_device
from .durations import nanoseconds
from .sources import any_from
from .streams import Stream
from .tables import Table
from .transfer import copy_flags

__all__ = ["Server", "ServerStats", "connect"]


class ServerStats(NamedTuple):
    """Numbers of a server."""

    clients: int  #: connections now
    batches: int  #: batches that were sent
    bytes: int  #: bytes of these batches
    copied_bytes: int  #: bytes that the server copied: for a client, or once by :meth:`Server.add`


class Server:
    """Offers streams to other processes of the machine, under names.

    :param uri: The address: `unix:/PATH`, `unix:@NAME`, or `fd:NUMBER` for a connected socket of the program.
    :param any_user: Processes of other users may connect. They get copies in memory that no other client sees.
    :param isolated: Every client gets such copies.
    :param copy: False refuses a batch that needs a copy: its stream ends with an error. True is refused.
    :param max_clients: Limit of the clients at once. 0 means 64.
    :param max_client_bytes: Limit of the bytes of copies that one connection has in use on one device. It applies to
        clients of another user, and to all clients of an isolated server. Beyond it the client's stream fails with
        OutOfMemoryError. 0 means 1 GiB.

    >>> import arrowdevice, pyarrow
    >>> table = pyarrow.table({"price": [1.5, 2.5]})
    >>> with arrowdevice.Server("unix:@manual") as server:
    ...     server.add("prices", table)
    ...     with arrowdevice.connect("unix:@manual?name=prices") as stream:  # usually in another process
    ...         print(pyarrow.table(stream).to_pydict())
    {'price': [1.5, 2.5]}
    """

    __slots__ = ("_core", "_uri")

    def __init__(
        self,
        uri: str,
        *,
        any_user: bool = False,
        isolated: bool = False,
        copy: bool | None = None,
        max_clients: int = 0,
        max_client_bytes: int = 0,
    ) -> None:
        flags = (_core.LINK_ANY_USER if any_user else 0) | (_core.LINK_ISOLATED if isolated else 0)
        self._core = _core.Server.create(uri, flags, copy_flags(copy), max_clients, max_client_bytes)
        self._uri = uri

    def add(self, name: str, obj: Any) -> None:
        """Offers data under a name.

        - A Stream goes to the first client. It is moved.
        - A function without parameters is called for each client, on a thread of the library. It returns what Stream
          accepts.
        - Arrays, tables and other objects that Table accepts go to every client. If they are not in shareable memory,
          this call copies them once.
        """
        if isinstance(obj, Stream):
            self._core.add_stream(name, obj._core)
        elif callable(obj):
            self._core.add_source(name, lambda: (made if isinstance(made := obj(), Stream) else Stream(made))._core)
        elif isinstance(obj, Table):
            self._core.add_arrays(name, obj.schema._core, [batch._core for batch in obj.batches])
        else:
            core = obj._core if isinstance(obj, Array) else any_from(obj)
            if isinstance(core, _core.Stream):
                self.add(name, Table(Stream._wrap(core)))
            else:
                self._core.add_arrays(name, core.schema, [core])

    def remove(self, name: str) -> None:
        """Removes what has that name. Clients that have it already keep it."""
        self._core.remove(name)

    @property
    def uri(self) -> str:
        """The address of the server."""
        return self._uri

    @property
    def stats(self) -> ServerStats:
        """Clients now, and what was sent since the server was made."""
        return ServerStats(*self._core.stats())

    @property
    def closed(self) -> bool:
        """True if the server was closed."""
        return self._core.closed

    def close(self) -> None:
        """Ends the server. Waits for calls of its streams and functions. Clients keep the batches that they have."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<arrowdevice.Server {self._uri}{' (closed)' if self.closed else ''}>"


def connect(
    uri: str,
    device: DeviceLike | None = None,
    *,
    copy: bool | None = None,
    timeout: float | None = None,
    any_user: bool = False,
    max_batches: int = 0,
    max_bytes: int = 0,
) -> Stream:
    """Returns a stream of a server in another process.

    The batches are valid for as long as you keep them, also after the server has ended. A write to their memory on the
    CPU ends the process.

    :param uri: The address of the server, with `?name=NAME` if the server has more than one stream.
    :param device: The device of the batches. None leaves them where the server has them.
    :param copy: True copies each batch into memory that no other process can open. False refuses copies.
    :param timeout: Limits the connection, and each read of a batch, in seconds.
    :param any_user: The server may be a process of another user.
    :param max_batches: Limit of the batches that the server sends before the first is read. 0 means 64.
    :param max_bytes: Limit of the bytes of these batches, but the server always sends one. 0 means 64 MiB.
    """
    to = None if device is None else find_device(device)._core
    flags = _core.LINK_ANY_USER if any_user else 0
    return Stream._wrap(_core.connect(uri, to, flags, copy_flags(copy), max_batches, max_bytes, nanoseconds(timeout)))
