"""Measures how long a lamp takes to answer a press, over many presses."""
import math
import time

from kit import expect, figure, say
from panel import hold, lamp, release
from ticker import HostWaits

# This includes the debounce time of 15 ms.
WITHIN = 0.05
# One press in a hundred may take this long. A press never waits for a hanging card or storage: those hang for seconds.
SLOWEST = 0.25
# A lamp that does not answer within this time counts as this.
NEVER = 1.5


class PressToLamp:
    """The lamp's delays after the edges of presses, less the time for which the host suspended the board."""

    def __init__(self, lamp="play"):
        self.lamp, self.times = lamp, []
        self.waits = HostWaits()

    def press(self, button):
        """Presses a button while the lamp is dark, and waits until it is lit."""
        deadline = time.monotonic() + 1
        while lamp(self.lamp) and time.monotonic() < deadline:
            time.sleep(0.002)
        waited = self.waits.seconds()
        pressed = hold(button)
        while not (lit := lamp(self.lamp)) and time.monotonic() - pressed < NEVER:
            time.sleep(0.0007)
        seconds = time.monotonic() - pressed - (self.waits.seconds() - waited)
        self.times.append(max(0.0, seconds) if lit else NEVER)
        time.sleep(max(0, pressed + 0.06 - time.monotonic()))
        release(button)

    def press_for(self, seconds, *buttons, pause=0.75):
        """Presses the buttons in turn for some time, with pauses in which the lamp's pattern ends."""
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            self.press(buttons[number % len(buttons)])
            number += 1
            time.sleep(pause)

    @property
    def p99(self):
        """The 99th percentile, in seconds."""
        return sorted(self.times)[max(0, math.ceil(0.99 * len(self.times)) - 1)]

    def judge(self, what):
        """Prints the figures, and expects 50 ms. One press in a hundred may exceed it; of fewer than a hundred, one."""
        ordered = sorted(self.times)
        never = sum(seconds >= NEVER for seconds in ordered)
        figure(f"{what}: press to lamp, median", ordered[len(ordered) // 2] * 1000, "ms", 1)
        figure(f"{what}: press to lamp, 99th percentile of {len(ordered)}", self.p99 * 1000, "ms", 1)
        if never:
            figure(f"{what}: presses without an answer in {NEVER} s", f"{never} of {len(ordered)}")
        say(f"{what}: {[round(seconds * 1000) for seconds in self.times]} ms")
        over = [round(seconds * 1000) for seconds in ordered if seconds >= WITHIN]
        expect(len(over) <= max(1, len(ordered) // 100), f"{what}: press to lamp stays under {WITHIN * 1000:.0f} ms, but for {over}")
        expect(ordered[-1] < SLOWEST, f"{what}: no press waits ({ordered[-1] * 1000:.0f} ms)")
        self.times = []
