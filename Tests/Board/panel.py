"""The board's panel from outside: presses its buttons, reads and watches its lamps.

A button is pressed by pulling its line down, like the contact does. An instant is CLOCK_MONOTONIC in seconds; the instant of a press is
the kernel's timestamp of its edge. The board's chip timestamps edges at its next tick, up to 1 ms after the pull. Therefore two spare
lines are pulled around it and their timestamps are read. This is done directly after a tick, which makes it exact to about 5 µs, unless
the host suspended the board in between: `agrees` allows for that uncertainty.
"""
import fcntl
import os
import random
import struct
import subprocess
import threading
import time

from kit import expect, wait_until

BUTTONS = {name: f"/run/gpio/BTN_{name.upper()}/pull" for name in ("record", "stop", "play", "back", "forward")}
LAMPS = {
    "record": "/run/gpio/LED_RECORD/value",
    "play": "/run/gpio/LED_PLAY/value",
    "upload": "/run/gpio/LED_UPLOAD/value",
    "fault": "/run/gpio/LED_ERROR/value",
}


# A watch that samples this late may have missed a flash.
LATE = 0.03


def _open(paths, flags):
    return {name: os.open(path, flags) for name, path in paths.items()}


_pulls = _open(BUTTONS, os.O_RDWR)
_values = _open(LAMPS, os.O_RDONLY)


# The last one is pulled to detect a tick.
_witnesses = [os.open(f"/run/gpio/BTN_SPARE{i}/pull", os.O_WRONLY) for i in (1, 2, 3)]
_ways = (b"pull-up", b"pull-down")
# The largest distance of the timestamps around a press.
_widest = 0.0
# When each button was last released, and the shortest time until a hand closes the contact again. Two presses within the recorder's
# debounce time count as one.
_released = {}
HAND = 0.05


def _edges_of(*offsets):
    """Returns a descriptor that delivers both edges of some lines of the board's chip (GPIO_V2_GET_LINE_IOCTL of linux/gpio.h)."""
    both_edges_of_inputs = 1 << 2 | 1 << 4 | 1 << 5
    request = bytearray(struct.pack("<64I32sQ", *offsets, *[0] * (64 - len(offsets)), b"witness", both_edges_of_inputs))
    request += bytes(560 - len(request)) + struct.pack("<II5Ii", len(offsets), 0, *[0] * 5, 0)
    chip = os.open("/dev/gpiochip0", os.O_RDWR)
    fcntl.ioctl(chip, 0xC250B407, request)
    os.close(chip)
    return struct.unpack_from("<i", request, 588)[0]


def _dates(count):
    """Returns the kernel's timestamps of the witnesses' next edges, in seconds."""
    dates = []
    while len(dates) < count:
        events = os.read(_events, 48 * (count - len(dates)))
        dates += [struct.unpack_from("<Q", events, i)[0] / 1e9 for i in range(0, len(events), 48)]
    return dates


def _pull(button, way):
    os.pwrite(_pulls[button], way, 0)


def _pull_and_date(button, way):
    global _ways, _widest
    if os.pread(_pulls[button], 16, 0).strip() == way:
        return time.monotonic()
    # Each line is pulled the opposite way of the last time, so that there is an edge.
    _ways = _ways[::-1]
    os.pwrite(_witnesses[2], _ways[0], 0)
    _dates(1)
    os.pwrite(_witnesses[0], _ways[0], 0)
    _pull(button, way)
    os.pwrite(_witnesses[1], _ways[0], 0)
    first, last = _dates(2)
    _widest = max(_widest, last - first)
    return (first + last) / 2


def agrees(error, within=0.0015):
    """Whether the difference of two instants, one or both of them of a press, is small enough, in seconds.

    The uncertainty of the presses' timestamps is added to the limit.
    """
    return abs(error) < within + _widest


def hold(button):
    """Closes a button's contact, as soon as a hand could. Returns the instant."""
    time.sleep(max(0, _released.get(button, 0) + HAND - time.monotonic()))
    return _pull_and_date(button, b"pull-down")


def release(button):
    """Opens the contact again. Returns the instant."""
    _released[button] = _pull_and_date(button, b"pull-up")
    return _released[button]


def press(button, seconds=0.1):
    """Makes a clean press. Returns the instant of its beginning."""
    instant = hold(button)
    time.sleep(seconds)
    release(button)
    return instant


def spike(button):
    """Closes a contact for about 50 µs."""
    _pull(button, b"pull-down")
    _pull(button, b"pull-up")


def bounce(button, seed, down=True):
    """Makes a contact that bounces for up to 12 ms before it stays closed (or open, unless `down`).

    Returns the first edge's instant, and the longest rest between two edges: about 3 ms, or longer if the host suspended the board.
    """
    chance = random.Random(seed)
    ways = (b"pull-down", b"pull-up") if down else (b"pull-up", b"pull-down")
    longest, last = 0.0, time.monotonic()
    first = _pull_and_date(button, ways[0])
    end = first + chance.uniform(0.003, 0.012)
    while time.monotonic() < end:
        for way in (ways[1], ways[0]):
            pause = time.monotonic() + chance.uniform(0.0001, 0.003)
            while time.monotonic() < pause:
                pass
            _pull(button, way)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
    return first, longest


def wait_held(line, program, seconds=20):
    """Waits until a program holds a line of the board's chip, and expects that."""
    def is_held():
        lines = subprocess.run(["gpioinfo", "gpiochip0"], capture_output=True, text=True).stdout.splitlines()
        return any(f'"{line}"' in text and program in text for text in lines)
    expect(wait_until(is_held, seconds), f"{program} holds {line}")


def lamp(name):
    return os.pread(_values[name], 2, 0)[:1] == b"1"


for _line in [*_pulls.values(), *_witnesses]:
    os.pwrite(_line, b"pull-up", 0)
_events = _edges_of(9, 10, 11)


class Watch:
    """Watches the lamps every few milliseconds from another thread, as `with Watch() as watch:`.

    The default is the panel's lamps; others are given with the paths of their values.
    """

    def __init__(self, interval=0.006, lamps=None):
        self.interval = interval
        self._values = _open(lamps, os.O_RDONLY) if lamps else _values
        self.changes = {name: [] for name in self._values}
        # When it last sampled late because the board was suspended.
        self.blind_until = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self):
        self.began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def _sample(self):
        last = time.monotonic()
        while not self._over.wait(self.interval):
            now = time.monotonic()
            if now - last > LATE:
                self.blind_until = now
            last = now
            for name, changes in self.changes.items():
                lit = os.pread(self._values[name], 2, 0)[:1] == b"1"
                if not changes or changes[-1][1] != lit:
                    changes.append((time.monotonic(), lit))

    def stop(self):
        """Ends the watch."""
        if not self._over.is_set():
            self._over.set()
            self._thread.join()
            self.ended = time.monotonic()

    def spans(self, name, since=0, until=None):
        """Returns (when, lit, seconds) of each stretch of one lamp between two instants."""
        until = until or getattr(self, "ended", None) or time.monotonic()
        changes = self.changes[name]
        ends = [change[0] for change in changes[1:]] + [until]
        cut = [(max(start, since), lit, min(end, until)) for (start, lit), end in zip(changes, ends)]
        return [(start, lit, end - start) for start, lit, end in cut if end > start]

    def flashes(self, name, since=0, until=None, pause=0.7):
        """Returns the size of each whole group of lit stretches, separated by dark ones of `pause` seconds.

        A group at either end that may be incomplete is omitted.
        """
        groups, count, whole = [], 0, False
        for _, lit, seconds in self.spans(name, since, until):
            if lit:
                count += 1
            elif seconds >= pause:
                if count and whole:
                    groups.append(count)
                count, whole = 0, True
        return groups

    def share(self, name, since=0, until=None):
        """Returns the share of the time for which a lamp was lit, 0 to 1."""
        spans = self.spans(name, since, until)
        total = sum(seconds for _, _, seconds in spans)
        return sum(seconds for _, lit, seconds in spans if lit) / total if total else 0.0
