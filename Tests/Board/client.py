"""The recorder's control socket: one JSON object per line."""
import json
import socket

SOCKET = "/run/fieldfare/recorder.sock"


class Refused(Exception):
    """A refused command, with the code of the reason."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]


class Client:
    def __init__(self, path=SOCKET):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rw")
        self.number = 0

    def send(self, command, **values):
        """Sends a command and returns its reply."""
        self.number += 1
        self.lines.write(json.dumps({"id": self.number, "command": command, **values}) + "\n")
        self.lines.flush()
        reply = json.loads(self.lines.readline())
        if not reply["ok"]:
            raise Refused(reply["error"])
        return reply

    def close(self):
        self.socket.close()
