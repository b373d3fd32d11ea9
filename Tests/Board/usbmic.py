"""A USB microphone on the board (usb-mic), under the kernel's own snd-usb-audio, whose frames carry their numbers.

Numbers begin above zero, so that a frame of zeros in a take is silence that the recorder wrote.
"""
import array
import atexit
import collections
import os
import pathlib
import signal
import subprocess
import time

from kit import expect, figure, say, wait_until
from panel import agrees, press
from takefolder import Sound

HERE = pathlib.Path(__file__).resolve().parent
RATE, LAYOUT, CHANNELS, BLOCK = 48000, "S16_LE", 2, 4
VENDOR, PRODUCT = 0x1209, 0xF1E1
# The name in settings for the microphone with the default serial number.
NAME = "usb:1209:f1e1:FF0001"
TAKES_OVER_WITHIN = 3
# A take's length may differ from the time between the presses by the error of the card's clock and a USB transfer.
TRANSFER = 0.012

# Consecutive frames of a take: the take's frame at which they begin, their count, and the first number. Silence that the recorder wrote has
# the number 0.
Run = collections.namedtuple("Run", "at frames number")


class Microphone:
    """One microphone, plugged in when the object is made."""

    def __init__(self, *options, port=0, ppm=0, serial="FF0001", product=PRODUCT, first=1, bits=16, rates=(RATE,), channels=CHANNELS):
        self.port, self.rate, self.block = port, rates[-1], channels * bits // 8
        self.serial, self.product, self.ppm = serial, product, ppm
        self.path = f"/dev/shm/usb-mic-{time.monotonic_ns()}.log"
        # The card of a microphone that was just pulled from that port would be taken for this one's.
        wait_until(lambda: not self._cards(), 15)
        command = [HERE / "usb-mic", "--port", str(port), "--ppm", str(ppm), "--serial", serial, "--product", f"{product:x}", "--bits", str(bits),
                   "--channels", str(channels), "--rates", ",".join(map(str, rates)), "--numbered", str(first), *map(str, options)]
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=self._goes_first)
        atexit.register(self.pull)
        self.plugged = time.monotonic()

    @staticmethod
    def _goes_first():
        # A device does not wait for the processor. Only the ticker, which measures the board's own lateness, has priority over it.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))

    def wait_card(self, seconds=20):
        """Waits until ALSA has its card. Returns the card's number."""
        if not wait_until(self._cards, seconds):
            raise RuntimeError(f"no sound card at port {self.port}:\n{self.output()}")
        return int(self._cards()[0].name.removeprefix("card"))

    def _cards(self):
        """The sound card that ALSA has at its port, if any."""
        return list(pathlib.Path("/sys/bus/usb/devices").glob(f"*-{self.port + 1}/*/sound/card*"))

    def output(self):
        """Returns its output."""
        return open(self.path).read()

    def lines(self, word):
        """Returns the numbers that follow each `word` in its output."""
        return [tuple(map(int, line.split()[1:])) for line in self.output().splitlines() if line.split()[:1] == [word]]

    def frame_at(self, instant):
        """Returns the number of the frame that it sampled at an instant of CLOCK_MONOTONIC, in seconds."""
        known = self.lines("at")
        frame, ns = min(known, key=lambda pair: abs(pair[1] / 1e9 - instant))
        return frame + (instant - ns / 1e9) * self.true_rate()

    def instant_of(self, number):
        """Returns the instant at which it sampled a frame."""
        frame, ns = min(self.lines("at"), key=lambda pair: abs(pair[0] - number))
        return ns / 1e9 + (number - frame) / self.true_rate()

    def true_rate(self):
        """Frames per second by its own crystal."""
        return self.rate * (1 + self.ppm / 1e6)

    def lost(self):
        """The dropped frames: (number of the first frame, frames) each."""
        return self.lines("lost")

    def has_slipped(self):
        """Whether its clock stood still for a moment because the host suspended the board. The drift cannot be judged then."""
        return bool(self.lines("slipped"))

    def switch_failing(self):
        """Begins or ends the failures that `--wait` delays."""
        self.process.send_signal(signal.SIGUSR1)

    def pull(self):
        """Unplugs it. Returns the instant."""
        when = time.monotonic()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return when


def runs(take, part, block=BLOCK):
    """Returns the runs of consecutive numbers in one part of a take, in order."""
    stated = take.sidecar["parts"][part]
    sound = Sound(take.path.parent / stated["file"])
    with open(sound.path, "rb", buffering=0) as file:
        data = os.pread(file.fileno(), sound.frames * sound.block, sound.place)
    numbers = bytearray(4 * sound.frames)
    for i in range(4):
        numbers[i::4] = data[i::block]
    numbers = array.array("I", bytes(numbers))
    found, at = [], 0
    while at < len(numbers):
        first = numbers[at]
        step = 1 if first else 0
        end = at + _follows(numbers, at, first, step)
        found.append(Run(stated["first_frame"] + at, end - at, first))
        at = end
    return found


def _follows(numbers, at, first, step, piece=4800):
    """Returns how many numbers from index `at` on continue from `first` by `step`."""
    count = 0
    while at + count < len(numbers):
        size = min(piece, len(numbers) - at - count)
        start = first + step * count
        meant = array.array("I", range(start, start + size)) if step else array.array("I", bytes(4 * size))
        if numbers[at + count : at + count + size] == meant:
            count += size
            continue
        return count + next(i for i in range(size) if numbers[at + count + i] != meant[i])
    return count


def all_runs(take, block=BLOCK):
    """Returns the runs of all parts."""
    return [run for part in range(len(take.sidecar["parts"])) for run in runs(take, part, block)]


def record(recorder, seconds, meanwhile=None):
    """Records a take by the buttons. Returns it and the instants of both presses. If the machine is too busy for the recorder, which
    reports that, the recording is repeated up to twice."""
    for _ in range(2):
        recorded = record_once(recorder, seconds, meanwhile)
        overruns = [gap for gap in recorded[0].sidecar["gaps"] if gap["cause"] == "xrun"]
        if meanwhile or not overruns:
            return recorded
        say(f"recorded again, since the machine was too busy: {overruns[:3]}")
    return record_once(recorder, seconds, meanwhile)


def record_once(recorder, seconds, meanwhile):
    pressed = press("record")
    recorder.wait_state("recording")
    if meanwhile:
        meanwhile()
    time.sleep(max(0, pressed + seconds - time.monotonic()))
    stopped = press("stop")
    recorder.wait_state("idle", 20)
    return recorder.take(), pressed, stopped


def expect_edges(name, take, mic, pressed, stopped, within=TRANSFER):
    """Checks that the first and the last frame are those that the microphone sampled at the two presses."""
    found = all_runs(take, mic.block)
    first = (found[0].number - mic.frame_at(pressed)) / mic.rate
    last = (found[-1].number + found[-1].frames - mic.frame_at(stopped)) / mic.rate
    figure(f"{name}: first frame off by", first * 1000, "ms")
    figure(f"{name}: last frame off by", last * 1000, "ms")
    expect(agrees(first, within), f"{name}: the first frame is the one at record's edge ({first * 1000:+.2f} ms)")
    expect(agrees(last, within), f"{name}: the last frame is the one at stop's edge ({last * 1000:+.2f} ms)")


def expect_whole(name, take, block=BLOCK):
    """Checks that the take is one run of the microphone's frames, with nothing missing, doubled or filled."""
    found = all_runs(take, block)
    holds = expect(len(found) == 1 and found[0].number > 0, f"{name}: the sound is what was sent, bit for bit: {found[:6]}")
    expect(take.sidecar["gaps"] == [], f"{name}: no gap is listed: {take.sidecar['gaps'][:6]}")
    return holds


def expect_first_channel(what, take, part=0):
    """Checks that one part of a take is the first of the card's channels, of 16 bits: it has the low bits of each frame's number."""
    wave = take.wave(part)
    numbers = [sample >> 16 for sample in wave.channel(0)]
    wrong = [at for at in range(1, len(numbers)) if (numbers[at] - numbers[at - 1]) % 65536 != 1]
    expect(wave.channels == 1 and not wrong, f"{what}: {len(numbers)} frames of one channel, not so at {wrong[:5]}")
    return len(numbers)


def expect_drift(name, take, ppm, within):
    """Checks that the sidecar's drift is the crystal's."""
    drift = take.sidecar["clock_drift_ppm"]
    figure(f"{name}: stored drift less the crystal's", drift - ppm if drift is not None else "none", "ppm")
    expect(drift is not None and abs(drift - ppm) < within, f"{name}: the drift is {drift} ppm, of {ppm:+.0f} ± {within}")


def in_faults(status, code=1):
    return any(fault["code"] == code for fault in status["faults"])


def wait_taken(recorder, card, since, what):
    """Waits until the recorder is armed with a card."""
    status = recorder.wait(lambda status: status["card"] == card and status["armed"], TAKES_OVER_WITHIN + 17)
    figure(f"{what}: armed with {card} after", time.monotonic() - since, "s")
    expect(status["card"] == card and status["armed"] and not in_faults(status),
           f"{what}: armed with {card}: {status['card']} {status['faults']}")


def wrong_rate(status):
    """Returns fault 8's message about the card's rate, or None."""
    return next((fault["message"] for fault in status["faults"] if fault["code"] == 8 and " and runs at " in fault["message"]), None)
