"""Checks whether the lamps showed the right patterns for the right time.

A watched stretch may begin and end in the middle of a pattern, so an incomplete span at either end is judged only by its length.
"""
# The number of flashes of each answer, and how long nothing else is shown. When sound is cut off, the lamp may still be lit when the first
# of three flashes begins.
ANSWERS = {"selected": ({2}, 0.5), "at the end": ({4}, 0.88), "refused": ({3}, 0.4), "cut off": ({2, 3}, 0.9)}
ANSWER_OVER = 1.0


def _inner(spans, lit):
    """The lengths of whole spans."""
    return [seconds for _, is_lit, seconds in spans[1:-1] if is_lit == lit]


def _all(spans, lit):
    return [seconds for _, is_lit, seconds in spans if is_lit == lit]


def _share(spans):
    return sum(_all(spans, True)) / max(1e-9, sum(seconds for _, _, seconds in spans))


def _off(spans):
    return not _all(spans, True)


def _solid(spans):
    return not _all(spans, False)


def _recording(spans):
    """Solid, with a short wink at each sync, at least once a second."""
    lit, dark = _all(spans, True), _all(spans, False)
    seconds = sum(lit) + sum(dark)
    return max(dark, default=0) < 0.2 and (seconds < 0.5 or _share(spans) > 0.7) and max(lit, default=0) < 1.5


def _fast(spans):
    return max(_all(spans, True) + _all(spans, False)) < 0.25


def _slow(spans):
    inner = _inner(spans, True) + _inner(spans, False)
    return all(0.85 < seconds < 1.15 for seconds in inner) and max(_all(spans, True) + _all(spans, False)) < 1.15


def _armed(spans):
    """A short flash every 3 s."""
    return max(_all(spans, True), default=0) < 0.15 and max(_all(spans, False)) < 3.15 and min(_inner(spans, False), default=3) > 2.7


def _flashing(count):
    def holds(spans):
        groups = [[]]
        for place, (_, lit, seconds) in enumerate(spans):
            if lit:
                groups[-1].append(seconds)
            elif seconds >= 0.7:
                groups.append([])
        whole = groups[1:-1]
        # Distinguished by count, so that the groups at both ends may be incomplete.
        return (max(_all(spans, True), default=0) < 0.35 and max(_all(spans, False)) < 1.85
                and all(len(group) == count for group in whole)
                and all(len(group) <= count for group in groups))
    return holds


def _pattern(lamp, shown):
    if isinstance(shown, int):
        return _flashing(shown)
    if lamp == "record" and shown == "solid":
        return _recording
    return {"off": _off, "solid": _solid, "fast": _fast, "slow": _slow, "armed": _armed}[shown]


class LampCheck:
    """The expected patterns of the lamps, since when, and a watch of the lamps."""

    def __init__(self, watch):
        self.watch = watch
        self.shown = {}

    def expect(self, shown, now, restarted=()):
        """Sets the expected patterns from now on. A lamp that keeps its pattern has continued it, unless it is named as restarted.

        A dark lamp that must flash was dark until its first flash, so its first round is checked as well.
        """
        for lamp, pattern in shown.items():
            before, since = self.shown.get(lamp, (None, None))
            if before == pattern and lamp not in restarted:
                continue
            was_dark = before == "off" and isinstance(pattern, int) and lamp not in restarted
            self.shown[lamp] = (pattern, since if was_dark else now)

    def is_told(self, lamp, now):
        """Whether a lamp's group of flashes was seen completely since the pattern began."""
        pattern, since = self.shown[lamp]
        return not isinstance(pattern, int) or bool(self.watch.flashes(lamp, since, now))

    def wrong(self, now):
        """Returns the deviations of the lamps up to now."""
        found, blind = [], self.watch.blind_until
        for lamp, (pattern, since) in self.shown.items():
            if blind > since:
                since = blind
                self.shown[lamp] = (pattern, since)
            if pattern is None or now - since < 0.1:
                continue
            spans = self.watch.spans(lamp, since, now)
            if isinstance(pattern, int) and spans and not spans[0][1] and spans[0][2] > 1.5:
                # The dark time before the first flash.
                spans[0] = (spans[0][0], False, 1.5)
            if spans and not _pattern(lamp, pattern)(spans):
                found.append(f"lamp {lamp}: not {pattern} over {now - since:.2f} s: "
                             + " ".join(("lit" if lit else "dark") + f" {seconds:.2f}" for _, lit, seconds in spans[-24:]))
        return found

    def answer_difference(self, what, pressed):
        """Returns how the play lamp's flashes differ from the answer to a finished press."""
        counts, seconds = ANSWERS[what]
        if self.watch.blind_until > pressed:
            return []
        since = pressed - 0.005
        starts = [start for start, lit, _ in self.watch.spans("play", since, pressed + seconds) if lit and start > since]
        if len(starts) in counts:
            return []
        return [f"lamp play: {len(starts)} flashes say {what}, not {counts}: {[round(start - pressed, 3) for start in starts]}"]
