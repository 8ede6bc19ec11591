"""The socket that `serve` listens on."""

import socket

from service.settings import Settings
from service.surfaces.command_line.serving import listen


def test_an_answer_leaves_at_once():
    """Else Nagle's algorithm holds it back until the caller's acknowledgement of the headers, 40 ms later."""
    with (
        listen(Settings(port=0)) as listening,
        socket.create_connection(listening.getsockname(), timeout=5),
    ):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
