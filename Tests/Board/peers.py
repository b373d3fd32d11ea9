"""Sixteen hostile peers at the control socket, in one process: `python3 -m peers SEED SOCKET`, until it is ended.

It writes a line per second: for each peer the bytes sent, the lines received, and how often it was dropped or disconnected itself.
"""
import os
import random
import select
import socket
import sys
import time

NESTED = b'{"command":"status","x":[[[[[[' + b"[1]," * 16000 + b"1]]]]]]}\n"


class Peer:
    """One peer: the lines that it sends repeatedly, whether it reads, and how it connects and disconnects."""

    def __init__(self, *lines, reads=True, pause=0.0, piece=1 << 16, lives=None):
        self.lines, self.reads, self.pause, self.piece, self.lives = lines, reads, pause, piece, lives
        self.socket = None
        self.waiting = b""
        self.due = 0.0
        self.sent = self.received = self.dropped = 0

    def connect(self, now):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.setblocking(False)
        self.waiting = b""
        try:
            self.socket.connect(sys.argv[2])
        except OSError:
            self.drop(now, pause=0.05)
        self.end = now + self.lives if self.lives else None

    def drop(self, now, pause=0.02):
        self.socket.close()
        self.socket = None
        self.dropped += 1
        self.due = now + pause

    def turn(self, now):
        """Does everything that is possible without blocking."""
        if now < self.due:
            return
        if not self.socket:
            self.connect(now)
        if self.socket and self.end and now > self.end:
            self.drop(now)
        if not self.socket:
            return
        try:
            if self.reads:
                data = self.socket.recv(1 << 16)
                self.received += data.count(b"\n")
                if not data:
                    return self.drop(now)
        except BlockingIOError:
            pass
        except OSError:
            return self.drop(now)
        self.waiting = self.waiting or random.choice(self.lines)
        try:
            count = self.socket.send(self.waiting[: self.piece])
            self.sent += count
            self.waiting = self.waiting[count:]
            self.due = now + self.pause
        except BlockingIOError:
            pass
        except OSError:
            self.drop(now)


def torment():
    """Runs sixteen peers until the process is ended."""
    random.seed(int(sys.argv[1]))
    status = b'{"id":1,"command":"status"}\n' * 100
    changes = b'{"command":"volume","volume":0.5}\n{"command":"volume","volume":0.6}\n' * 50
    # No commands that start, stop or light anything: they would be carried out.
    wrong = b'{"command":"dance"}\n{"command":"light","lamp":"sun"}\n{"command":"skip","seconds":1e99}\n' * 30
    garbage = [random.randbytes(random.randrange(1, 4000)) + b"\n" for _ in range(50)]
    peers = (
        [Peer(status) for _ in range(2)] + [Peer(changes), Peer(wrong)]
        + [Peer(status, reads=False) for _ in range(2)] + [Peer(b'{"command":"watch"}\n', reads=False, pause=60)]
        + [Peer(*garbage) for _ in range(2)] + [Peer(b"[" * 70000), Peer(NESTED)]
        + [Peer(status[:28], pause=0.05, piece=1)]
        + [Peer(status, lives=0.001), Peer(b"{", lives=0.001)]
        + [Peer(b'{"command":"lines"}\n', b'{"command":"doctor"}\n'),
           Peer(b'{"command":"mark","note":"x"}\n', pause=0.01)])
    stated = 0
    while os.getppid() != 1:
        now = time.monotonic()
        for peer in peers:
            peer.turn(now)
        if now > stated + 1:
            stated = now
            print(" ".join(f"{peer.sent}/{peer.received}/{peer.dropped}" for peer in peers), flush=True)
        select.select([], [], [], 0.001)


if __name__ == "__main__":
    torment()
