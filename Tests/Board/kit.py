"""A recorder under test: its settings, its process, its control socket, its takes, and the scenario's report.

A scenario runs as root on its own board, and judges itself: `expect` records whether a fact holds, `figure` records a measurement, and
the exit status is 1 if any fact did not hold.
"""
import atexit
import ctypes
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

from client import SOCKET, Client
from sound import Wave

TAKES = pathlib.Path("/data/takes")
# A scenario that uses `start` also runs with the service of an installed kit.
RUNS_AS_SERVICE = "FIELDFARE_SERVICE" in os.environ
# With `run --long`, a scenario runs its full form.
IS_LONG = "FIELDFARE_LONG" in os.environ
BINARIES = pathlib.Path(os.environ.get("FIELDFARE_BINARIES", ".build/debug"))
# `run` starts every board with one subdevice per device, so that a held card is a busy card. Sound that is played into the first device is
# captured from the second.
CAPTURE = "card:Loopback"
PLAYBACK = "hw:Loopback,0,0"
# The recorder also plays into the second device, which is captured from the first.
OUTPUT = "hw:Loopback,0,0"

# How long a stopped take can be continued. Scenarios that do not test this expect that a stopped take is over.
REJOIN_SECONDS = 0

_failures = []


def say(text):
    """Prints a line of the log."""
    print(f"{time.monotonic():8.3f}  {text}", flush=True)


def expect(holds, fact):
    """Records whether a fact holds, and returns that. The scenario continues in any case."""
    say(("ok: " if holds else "NOT SO: ") + fact)
    if not holds:
        _failures.append(fact)
    return bool(holds)


def figure(name, value, unit="", digits=2):
    """Prints a measurement, which is shown with the scenario's result."""
    value = f"{value:.{digits}f}" if isinstance(value, float) else value
    print(f"figure: {name}: {value} {unit}".rstrip(), flush=True)


def failures():
    """The facts that did not hold so far."""
    return list(_failures)


def account(trial, cuts=0, faults=0, wrong=0, lost=None, worst=None):
    """Prints a row of soak's table: the number of power cuts, of injected faults and of errors, the frames that the sound shows as lost
    beyond design.md's limits (None if the sound does not show it), and the worst loss in seconds."""
    row = {"trial": trial, "cuts": cuts, "faults": faults, "wrong": wrong, "lost unreported": lost, "worst loss": worst}
    print(f"account: {json.dumps(row)}", flush=True)


def finish():
    """Ends the scenario with its verdict."""
    for fact in _failures:
        print(f"NOT SO: {fact}")
    sys.exit(1 if _failures else 0)


def wait_until(condition, seconds, interval=0.02):
    """Waits for a condition. Returns its last value, which is false if it never held.

    A condition that starts a program costs much of the board's only processor. It is evaluated for half of the time at most, because
    what is waited for needs the processor as well.
    """
    now = time.monotonic()
    deadline = now + seconds
    while not (value := condition()) and (ended := time.monotonic()) < deadline:
        time.sleep(max(interval, min(ended - now, 0.5)))
        now = time.monotonic()
    return value


def byte_count(path):
    """Returns the length of a file that another program may remove or rename at any time, or 0 if it does not exist."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def set_clock_synchronised():
    """Reports to the kernel that its clock is synchronised, which prevents fault 3 (clock unset)."""
    timex = (ctypes.c_long * 64)()
    timex[0] = 0x0010 | 0x0004 | 0x0008  # ADJ_STATUS, ADJ_MAXERROR, ADJ_ESTERROR: all zero
    if ctypes.CDLL(None).adjtimex(timex) < 0:
        raise OSError("adjtimex")


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def settings(**changes):
    """Returns the settings of a kit on the board, by section. `None` leaves a key at its default."""
    sections = {
        "kit": {"name": "board"},
        "capture": {"card": CAPTURE},
        "filter": {},
        "takes": {"directory": str(TAKES), "reserve_mib": 16, "rejoin_seconds": REJOIN_SECONDS},
        "panel": {},
        "panel.buttons": {
            name: {"line": f"BTN_{name.upper()}"} for name in ("record", "stop", "play", "back", "forward")},
        "panel.leds": {name: {"line": f"LED_{line}"} for name, line in (
            ("record", "RECORD"), ("play", "PLAY"), ("upload", "UPLOAD"), ("fault", "ERROR"))},
        "control": {"socket": SOCKET},
    }
    for name, section in changes.items():
        sections.setdefault(name.replace("panel_", "panel."), {}).update(section)
    return "\n".join(
        f"[{name}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in section.items() if value is not None)
        for name, section in sections.items())


class Take:
    """A finished take: its sidecar and its sound."""

    def __init__(self, sidecar):
        self.path = sidecar
        self.sidecar = json.loads(sidecar.read_text())
        self.stem = self.sidecar["take"]
        # The common prefix of all its files' names.
        self.base = self.stem.partition("_")[0]

    def wave(self, part=0):
        return Wave(str(self.path.parent / self.sidecar["parts"][part]["file"]))


def wav(rate, layout, channels, data):
    """Returns the bytes of a WAV file."""
    width = {"S16_LE": 2, "S24_3LE": 3, "S32_LE": 4, "FLOAT_LE": 4}[layout]
    block = width * channels
    form = struct.pack(
        "<4sIHHIIHH", b"fmt ", 16, 3 if layout == "FLOAT_LE" else 1, channels, rate, rate * block, block, 8 * width)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", len(data)) + data
    return struct.pack("<4sI", b"RIFF", len(body)) + body


def sidecar_of(stem, number, file, rate, layout, channels, frames):
    """Returns the sidecar of a stopped take of one part, without any incident."""
    part = {"file": file, "first_frame": 0, "frames": frames, "rate_hz": rate, "format": layout, "sha256": None}
    return {
        "schema": 1, "revision": 1, "take": stem, "number": number, "kit": "board", "started": "2026-11-21T06:18:11.000000Z",
        "started_corrected": None, "started_monotonic_ns": 0, "boot_id": "", "clock": "ntp", "ended_by": "stop",
        "recovered": False, "parts": [part], "frames": frames, "duration_seconds": frames / rate, "card": CAPTURE,
        "rate_hz": rate, "channels": channels, "format": layout, "filter": [], "gaps": [], "markers": [],
        "pre_roll_frames": 0, "levels": [], "gain_db": None, "agc": None, "version": "made by hand"}


def make_take(number, rate, layout, channels, data, convert=None):
    """Makes a finished take that is on disk before the recorder starts, as an earlier recorder would have left it. Returns its stem.

    `convert` is a command that makes another file of the WAV (given both paths). The take then consists of that file alone.
    """
    takes = Service.directory if RUNS_AS_SERVICE else TAKES
    stem, folder = f"board-{number:04}-061811Z", takes / "2026-11-21"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{stem}.wav"
    content = wav(rate, layout, channels, data)
    file.write_bytes(content)
    if convert:
        suffix, command = convert
        subprocess.run([*command, str(file), str(file.with_suffix(suffix))], check=True)
        file.unlink()
        file = file.with_suffix(suffix)
    frames = len(data) // (struct.unpack_from("<H", content, 32)[0])
    (folder / f"{stem}.json").write_text(json.dumps(sidecar_of(stem, number, file.name, rate, layout, channels, frames)))
    # The service's user must be able to write next to it.
    owner = takes.stat()
    for path in (folder, file, folder / f"{stem}.json"):
        os.chown(path, owner.st_uid, owner.st_gid)
    return stem


class Recorder:
    """A running fieldfare-recorder. A second one needs another `name`, and settings with another socket and folder."""

    @property
    def directory(self):
        """The folder of its takes."""
        return self.takes_directory or TAKES

    def __init__(self, text=None, armed=True, name="recorder", directory=None, socket=None, **environment):
        self.takes_directory, self.socket = directory, socket or SOCKET
        self.settings = pathlib.Path(f"/data/{name}.toml" if directory else "/data/fieldfare.toml")
        self.settings.write_text(settings() if text is None else text)
        # The service manager would make this folder.
        os.makedirs("/run/fieldfare", exist_ok=True)
        self.log = pathlib.Path(f"/data/{name}.log")
        self.seen = set(self.directory.glob("*/*.json"))
        self.began = time.monotonic()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [BINARIES / "fieldfare-recorder", "--settings", self.settings], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env={"PATH": os.environ["PATH"], "HOME": "/data", "LANG": "C.UTF-8", **environment})
        atexit.register(self.kill)
        self.connect()
        if armed:
            self.wait_armed()

    def wait_armed(self, seconds=20):
        """Waits until the recorder is armed. Returns the status."""
        if not wait_until(lambda: self.status()["armed"], seconds):
            raise RuntimeError(f"the recorder did not arm: {self.status()}\n{self.errors()}")
        return self.status()

    def ended(self):
        """The exit status of the process; None while it runs."""
        return self.process.poll()

    def connect(self, seconds=20):
        """Connects to the control socket, once it exists."""
        def attempt():
            if self.ended() is not None:
                raise RuntimeError(f"the recorder ended with {self.ended()}:\n{self.errors()}")
            try:
                return Client(self.socket)
            except OSError:
                return None
        self.client = wait_until(attempt, seconds, interval=0.005)
        if not self.client:
            raise RuntimeError(f"no answer at {self.socket}:\n{self.errors()}")

    def send(self, command, **values):
        """Sends a command and returns its reply."""
        return self.client.send(command, **values)

    def status(self):
        """Returns the contract's status object."""
        reply = self.client.send("status")
        return reply.get("status", reply)

    def wait(self, condition, seconds=10):
        """Waits until a condition of the status holds. Returns the last status."""
        last = {}
        def now():
            nonlocal last
            last = self.status()
            return condition(last)
        if not wait_until(now, seconds):
            say(f"still: {last}")
        return last

    def wait_state(self, state, seconds=10):
        """Waits for a state of the deck, and expects it."""
        status = self.wait(lambda status: status["state"] == state, seconds)
        expect(status["state"] == state, f"the deck is {state}" + ("" if status["state"] == state else f": {status}"))
        return status

    def wait_take(self, seconds=10):
        """Waits until the deck records and the take has its name, which it gets when its files are open. Returns the name."""
        status = self.wait(lambda status: status["state"] == "recording" and status["take"], seconds)
        expect(status["state"] == "recording" and status["take"], f"a take is recorded: {status['state']}, {status['take']}")
        return status["take"]

    def faults(self):
        """The codes of the current faults."""
        return [fault["code"] for fault in self.status()["faults"]]

    def takes(self, count=1, seconds=20):
        """Returns the takes that were finished since the recorder's start, in order, once there are `count` of them."""
        def found():
            return sorted(set(self.directory.glob("*/*.json")) - self.seen)
        if not wait_until(lambda: len(found()) >= count, seconds):
            raise RuntimeError(f"{len(found())} takes instead of {count}: {sorted(self.directory.glob('**/*'))}\n{self.errors()}")
        return sorted((Take(path) for path in found()), key=lambda take: take.sidecar["number"])

    def take(self):
        """Returns the newest take, once it is finished. It counts as old from then on."""
        take = self.takes()[-1]
        self.seen.add(take.path)
        return take

    def errors(self):
        """The content of the recorder's log."""
        return self.log.read_text(errors="replace")

    def stop(self, seconds=10):
        """Ends it like a service manager. Returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            expect(False, "the recorder ends within 10 s of SIGTERM")
            self.kill()
            status = None
        for line in self.errors().splitlines():
            say(f"  recorder: {line}")
        return status

    def kill(self):
        """Kills it."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def systemctl(*arguments):
    """Runs systemctl and returns its output."""
    result = subprocess.run(["systemctl", *arguments], capture_output=True, text=True, timeout=180)
    return (result.stdout + result.stderr).strip()


class Service(Recorder):
    """The recorder as the service of an installed kit, which runs since the board's boot (`# board: -i -r KIT`)."""

    directory = pathlib.Path("/var/lib/fieldfare/takes")
    unit = "fieldfare-recorder.service"

    def __init__(self, text=None, armed=True):
        """Connects to the running service, or restarts it with other settings."""
        self.seen, self.socket = set(), SOCKET
        self.began = time.monotonic()
        if text is not None:
            self.seen = set(self.directory.glob("*/*.json"))
            pathlib.Path("/etc/fieldfare/fieldfare.toml").write_text(text)
            systemctl("restart", self.unit)
        self.connect()
        if armed:
            self.wait_armed()

    def show(self, name):
        """Returns a property of the unit."""
        return systemctl("show", "--property", name, "--value", self.unit)

    @property
    def pid(self):
        """The recorder's process; 0 if there is none."""
        return int(self.show("MainPID"))

    def ended(self):
        return None

    def errors(self):
        """The service's journal since the board's boot."""
        return subprocess.run(
            ["journalctl", "--no-pager", "-b", "-o", "cat", "-u", self.unit], capture_output=True, text=True).stdout

    def start(self, seconds=20):
        """Starts it again after `stop`."""
        systemctl("start", self.unit)
        self.connect(seconds)
        return self.wait_armed()

    def stop(self, seconds=None):
        """Stops it and returns its exit status."""
        systemctl("stop", self.unit)
        return int(self.show("ExecMainStatus"))

    def kill(self, name="KILL"):
        """Sends a signal to the process."""
        os.kill(self.pid, getattr(signal, f"SIG{name}"))


def start(**changes):
    """Starts a recorder with changed settings: the scenario's own process, or the installed service with FIELDFARE_SERVICE."""
    if not RUNS_AS_SERVICE:
        return Recorder(settings(**changes))
    changes["takes"] = {"directory": None} | changes.get("takes", {})
    return Service(settings(**changes))


def await_power_off(seconds, check):
    """Waits until systemd ends all processes to switch the board off, calls `check`, and ends the scenario with its verdict.

    The scenario ends with the board, so the verdict is reported in board-init's way.
    """
    asked_to_end = []
    signal.signal(signal.SIGTERM, lambda *_: asked_to_end.append(time.monotonic()))
    # The shell that runs the scenario ends as well, and its terminal with it.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if wait_until(lambda: asked_to_end, seconds):
        time.sleep(0.2)
        console = os.open("/dev/tty0", os.O_WRONLY | os.O_NOCTTY)
        os.dup2(console, 1)
        os.dup2(console, 2)
    expect(asked_to_end, f"the board is being switched off within {seconds} s")
    check()
    if asked_to_end:
        pathlib.Path("/run/board/status").write_text("1" if _failures else "0")
    finish()


def command(*arguments):
    """Runs `fieldfare` and returns (exit status, standard output, standard error).

    The longest command waits 40 s for a stick to be unmounted.
    """
    result = subprocess.run(
        [BINARIES / "fieldfare", "--socket", SOCKET, *arguments], capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout, result.stderr
