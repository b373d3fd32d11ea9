"""The library of an installed kit: its unit, and its replies to a person in the group fieldfare."""
import grp
import hashlib
import json
import os
import pathlib
import signal
import subprocess

from client import Client, Refused
from kit import systemctl, wait_until

SOCKET = "/run/fieldfare-library/library.sock"
SETTINGS = pathlib.Path("/etc/fieldfare/fieldfare.toml")
WISH = pathlib.Path("/run/fieldfare-library/settings-wish")
OUTCOME = pathlib.Path("/run/fieldfare-settings/outcome")
FOLDER = pathlib.Path("/var/lib/fieldfare-library")
NOBODY = 65534


def as_person(body, groups=("fieldfare",)):
    """Returns the result of `body` in a process of a user with only these groups. An error is returned as a text."""
    numbers = [grp.getgrnam(group).gr_gid for group in groups]
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups(numbers)
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            result = body()
        except BaseException as error:
            result = f"{type(error).__name__}: {error}"
        with os.fdopen(theirs, "w") as pipe:
            json.dump(result, pipe)
        os._exit(0)
    os.close(theirs)
    with open(ours) as pipe:
        result = json.loads(pipe.read())
    os.waitpid(child, 0)
    return result


class Library:
    """The service that runs since the board's boot (`# board: -i -r KIT`)."""

    unit = "fieldfare-library.service"

    def show(self, name):
        """Returns a property of the unit."""
        return systemctl("show", "--property", name, "--value", self.unit)

    @property
    def pid(self):
        """Its process; 0 if there is none."""
        return int(self.show("MainPID"))

    def log(self):
        """The service's journal since the board's boot."""
        return subprocess.run(
            ["journalctl", "--no-pager", "-b", "-o", "cat", "-u", self.unit], capture_output=True, text=True).stdout

    def ask(self, command, **values):
        """Returns its reply to a person in the group fieldfare.

        Raises RuntimeError with the refusal, or with the reason for a missing reply.
        """
        reply = as_person(lambda: Client(SOCKET).send(command, **values))
        if isinstance(reply, str):
            raise RuntimeError(reply)
        return reply

    def status(self):
        """Its status; None while it does not answer. Root requests it, without a process of its own, so that it can be polled."""
        try:
            return Client(SOCKET).send("status")
        except (OSError, ValueError, Refused):
            return None

    def wait(self, condition, seconds=60):
        """Waits until a condition of the status holds. Returns whether it did."""
        return bool(wait_until(lambda: (status := self.status()) and condition(status), seconds, 0.05))

    def takes(self, **query):
        """Returns all takes that match a query, by stem."""
        found, after = {}, {}
        while True:
            page = self.ask("takes", limit=200, **query, **after)
            found |= {take["take"]: take for take in page["takes"]}
            if page["next"] is None:
                return found
            after = {"after": page["next"]}

    def adopt_stick(self, seconds=30):
        """Adopts the plugged-in stick, once it is mounted. Returns whether it did."""
        def adopts():
            try:
                return self.ask("stick-adopt")
            except RuntimeError:
                return None
        return bool(wait_until(adopts, seconds, 0.2))

    def stop(self):
        """Stops it and returns its exit status."""
        systemctl("stop", self.unit)
        return int(self.show("ExecMainStatus"))

    def start(self):
        """Starts it and returns once it is ready."""
        systemctl("start", self.unit)

    def kill(self):
        """Kills it and returns the id of that process."""
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        return pid


def wish(text, seconds=60):
    """Requests other settings, as the library does for a paired phone. Returns the outcome, once both services were restarted."""
    OUTCOME.unlink(missing_ok=True)
    content = f"{hashlib.sha256(SETTINGS.read_bytes()).hexdigest()}\n{text}"
    subprocess.run(["runuser", "-u", "fieldfare-library", "--", "sh", "-c", f"cat >{WISH}.tmp && mv {WISH}.tmp {WISH}"], input=content, text=True,
                   check=True)
    return OUTCOME.read_text() if wait_until(OUTCOME.exists, seconds, 0.2) else None
