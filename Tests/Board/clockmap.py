"""A take's clock map: the sample time of each frame, by CLOCK_MONOTONIC_RAW and by UTC."""
import bisect
import datetime
import time

from kit import expect, figure


def raw_less_monotonic():
    """Returns CLOCK_MONOTONIC_RAW less CLOCK_MONOTONIC in seconds, from the closest of several readings."""
    best = None
    for _ in range(50):
        before, raw, after = time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = after - before, raw - (before + after) / 2
    return best[1] / 1e9


class ClockMap:
    """The entries of a sidecar's `clock_map`, ordered by frame."""

    def __init__(self, take):
        self.rate = take.sidecar["rate_hz"]
        self.entries = take.sidecar.get("clock_map") or []
        self.frames = take.sidecar["frames"]

    def is_usable(self, name):
        """Whether the map can be used: expects at least two entries, each with its error bound, at most 60 s apart."""
        if not expect(len(self.entries) >= 2, f"{name}: the sidecar has a clock map: {self.entries}"):
            return False
        places = [entry["at_frame"] for entry in self.entries]
        expect(places == sorted(set(places)), f"{name}: its entries are in order")
        steps = [two - one for one, two in zip(places, places[1:])]
        expect(max(steps) <= 60.5 * self.rate and self.frames - places[-1] <= 60.5 * self.rate,
               f"{name}: an entry at least each 60 s")
        expect(all(entry["error_us"] > 0 for entry in self.entries), f"{name}: each states its error")
        figure(f"{name}: largest error that the clock map states", max(entry["error_us"] for entry in self.entries) / 1000, "ms")
        return True

    def _between(self, frame, value):
        places = [entry["at_frame"] for entry in self.entries]
        after = min(max(bisect.bisect(places, frame), 1), len(places) - 1)
        one, two = self.entries[after - 1], self.entries[after]
        share = (frame - one["at_frame"]) / (two["at_frame"] - one["at_frame"])
        return value(one) + share * (value(two) - value(one))

    def raw(self, frame):
        """CLOCK_MONOTONIC_RAW of a frame, in seconds."""
        return self._between(frame, lambda entry: entry["raw_ns"]) / 1e9

    def utc(self, frame):
        """UTC of a frame, in seconds since 1970."""
        return self._between(frame, lambda entry: datetime.datetime.fromisoformat(entry["utc"]).timestamp())

    def expect_true(self, name, instant_of):
        """Expects that the map agrees with the card for its own frames. `instant_of` gives CLOCK_MONOTONIC of a frame."""
        if not self.is_usable(name):
            return
        ahead = raw_less_monotonic()
        errors = [entry["raw_ns"] / 1e9 - ahead - instant_of(entry["at_frame"]) for entry in self.entries]
        figure(f"{name}: the clock map is off by", f"{min(errors) * 1000:+.2f} to {max(errors) * 1000:+.2f}", "ms")
        bounds = [entry["error_us"] / 1e6 for entry in self.entries]
        expect(all(abs(error) <= bound + 0.0015 for error, bound in zip(errors, bounds)),
               f"{name}: no entry is off by more than it states: {[round(error * 1e6) for error in errors]} µs")
