"""A model of the deck, from its state table and its promises alone: the expected result of presses, faults and settings of the date.

An instant is CLOCK_MONOTONIC in seconds. A pair stands for an instant that is only known to lie between the two.
"""
import dataclasses

TABLE = {
    "idle": {"record": "start", "stop": "nothing", "play": "play", "back": "before", "forward": "after"},
    "recording": {"record": "mark", "stop": "end", "play": "refuse", "back": "nothing", "forward": "nothing"},
    "playing": {"record": "stop, start", "stop": "stop", "play": "pause", "back": "skip back", "forward": "skip on"},
    "paused": {"record": "stop, start", "stop": "stop", "play": "resume", "back": "skip back", "forward": "skip on"},
}
SKIP = 5.0
# Back and forward act again after each of these while they are held.
REPEAT = 0.6
# How much later than its press a sound may begin or continue.
PLAY_LAG = 0.6
# How long after its last frame a take may still be reported as playing.
PLAY_TAIL = 0.6
# The seconds that a card keeps when it goes away, and the seconds that failing storage may cost (including the board's own lateness).
UNREAD, UNSYNCED = 0.35, 1.1
# The record lamp blinks when more than this is not on disk. The others are the uncertainty of the beginning, and of the end.
BEHIND, BEHIND_SLACK, CAUGHT_UP = 2.0, 0.6, 4.5
# A smaller step leaves the date as right as before.
SAME_DATE = 2.0


@dataclasses.dataclass
class Take:
    """A take: when it was pressed, began and ended, and the expected statements of its sidecar. A take from before the test has no
    press."""

    number: int
    seconds: float = 0.0
    pressed: float = None
    begun: tuple = None
    ended: tuple = None
    ended_by: str = "stop"
    markers: list = dataclasses.field(default_factory=list)
    parts: int = 1
    recovered: bool = False
    # The offset of the calendar from CLOCK_MONOTONIC, and whether its origin is known.
    calendar: float = None
    clock: str = None


class DeckModel:
    """The state of the deck, its lamps, and the takes on disk."""

    def __init__(self, takes, calendar):
        self.deck = "idle"
        self.takes = list(takes)
        self.selected = self.takes[-1]
        self.last_number = self.takes[-1].number
        self.card, self.away_since, self.back_at = True, None, None
        # ok, nearly full, full, read-only
        self.storage = "ok"
        self.calendar = self.right_calendar = calendar
        self.is_clipped, self.is_dating_due = False, False
        self.open, self.cut = None, None
        self.played, self.place, self.placed_at = None, (0.0, 0.0), 0.0
        # The lamps' one-time answer to the last press: (what, when).
        self.answer = None

    # Expected state

    @property
    def clock(self):
        """The origin of the date."""
        return "ntp" if abs(self.calendar - self.right_calendar) < SAME_DATE else "unset"

    @property
    def faults(self):
        """The codes of the current faults."""
        signs = {1: not self.card, 2: self.storage in ("nearly full", "full"), 3: self.clock == "unset",
                 4: self.storage == "read-only", 8: self.is_clipped and self.card}
        return [code for code, holds in signs.items() if holds]

    @property
    def can_record(self):
        """Whether nothing prevents a new take."""
        return self.card and self.storage in ("ok", "nearly full")

    @property
    def are_dated(self):
        """Whether the existing takes must state their true start. Recording has priority: no take is changed meanwhile."""
        return self.clock != "unset" and self.deck != "recording" and self.storage != "read-only"

    @property
    def state(self):
        """The name of the deck's state."""
        return "fault" if self.deck == "idle" and not self.can_record else self.deck

    @property
    def is_armed(self):
        """Whether the record button would record at once."""
        return self.deck == "idle" and self.can_record

    @property
    def take(self):
        """The take that is recorded or played."""
        return {"recording": self.open, "playing": self.played, "paused": self.played}.get(self.deck)

    def lamps(self, now):
        """The expected pattern of each lamp: off, solid, armed, slow, fast, or the number of its flashes; None if not known at the
        moment."""
        play = {"playing": "solid", "paused": "slow", "idle": "armed" if self.is_armed else "off"}.get(self.deck, "off")
        return {"record": self._record_lamp(now), "play": play, "fault": min(self.faults, default="off"), "upload": "off"}

    def _record_lamp(self, now):
        if self.deck != "recording":
            return "off"
        if self.away_since is not None:
            behind = now - self.away_since
            return "solid" if behind < BEHIND - BEHIND_SLACK else "fast" if behind > BEHIND + BEHIND_SLACK else None
        was_away = self.back_at is not None and self.back_at > self.open.pressed
        return None if was_away and now < self.back_at + CAUGHT_UP else "solid"

    # The sound that is played

    def position(self, now):
        """The range of playback positions in seconds, if the take were endless."""
        gone = now - self.placed_at if self.deck == "playing" else 0
        return self.place[0] + gone, self.place[1] + gone

    def is_sure(self, now, ahead=0.0):
        """Whether it is known that the playing take is over, or will not be for some seconds. If it is over, playback ends here."""
        if self.deck != "playing":
            return True
        low, high = self.position(now)
        if low > self.played.seconds + PLAY_TAIL:
            self._stop_playing()
            return True
        return high + ahead < self.played.seconds

    def may_play_at(self, seconds, now, slack=0.15):
        """Whether playback may be at this position. If so, the known range is narrowed."""
        low, high = self.position(now)
        low, high = min(low, self.played.seconds), min(high, self.played.seconds)
        if not low - slack <= seconds <= high + slack:
            return False
        self.place, self.placed_at = (max(low, seconds - slack), min(high, seconds + slack)), now
        return True

    def _move(self, now, by, lag):
        low, high = (min(max(0.0, each + by), self.played.seconds) for each in self.position(now))
        self.place, self.placed_at = (low - lag, high), now

    def _stop_playing(self):
        self.deck, self.played = "idle", None

    # Events

    def press(self, button, at):
        self.answer = None
        getattr(self, f"_do_{TABLE[self.deck][button].replace(', ', '_then_').replace(' ', '_')}")(at)

    def _refuse(self, at):
        self.answer = ("refused", at)

    def _do_nothing(self, at):
        pass

    def _do_start(self, at, latest=0.0):
        if not self.can_record:
            return self._refuse(at)
        self.last_number += 1
        self.open = Take(self.last_number, pressed=at, begun=(at, at + latest), calendar=self.calendar, clock=self.clock)
        self.deck = "recording"

    def _do_mark(self, at):
        # Nothing is sampled while the card is away, so the marker is set at the last sampled frame.
        self.open.markers.append((at, at) if self.card else (self.away_since - UNREAD, self.away_since))

    def _do_end(self, at):
        if self.card:
            self._end("stop", (at, at))
        else:
            self._end("stop", (self.away_since - UNREAD, self.away_since))

    def _end(self, why, ended):
        take, self.open, self.deck = self.open, None, "idle"
        take.ended_by, take.ended = why, ended
        self.takes.append(take)
        self.selected = take

    def _do_refuse(self, at):
        self._refuse(at)

    def _do_play(self, at):
        if not self.card:
            return self._refuse(at)
        self.deck, self.played, self.place, self.placed_at = "playing", self.selected, (-PLAY_LAG, 0.0), at

    def _do_before(self, at):
        self._select(-1, at)

    def _do_after(self, at):
        self._select(1, at)

    def _select(self, by, at):
        place = self.takes.index(self.selected) + by
        if not 0 <= place < len(self.takes):
            self.answer = ("at the end", at)
        else:
            self.selected, self.answer = self.takes[place], ("selected", at)

    def _do_stop_then_start(self, at):
        self._stop_playing()
        # From this instant on, nothing is sampled.
        self._do_start(at, latest=PLAY_LAG)
        if self.answer:
            self.answer = ("cut off", at)

    def _do_stop(self, at):
        self._stop_playing()

    def _cut_off(self, at):
        self._stop_playing()
        self.answer = ("cut off", at)

    def _do_pause(self, at):
        self._move(at, 0, PLAY_LAG / 2)
        self.deck = "paused"

    def _do_resume(self, at):
        if not self.card:
            return self._cut_off(at)
        self._move(at, 0, PLAY_LAG / 2)
        self.deck = "playing"

    def _do_skip_back(self, at):
        self._move(at, -SKIP, PLAY_LAG / 2 if self.deck == "playing" else 0)

    def _do_skip_on(self, at):
        self._move(at, SKIP, PLAY_LAG / 2 if self.deck == "playing" else 0)

    def card_goes(self, at):
        """The card is unplugged: a take waits for it, playing sound ends, and paused sound ends when it is resumed."""
        self.card, self.away_since = False, at
        if self.deck == "playing":
            self._cut_off(at)

    def card_returns(self, at):
        """The card is back: a take continues in another part."""
        self.card, self.away_since, self.back_at = True, None, at
        if self.deck == "recording":
            self.open.parts += 1

    def storage_becomes(self, storage, at):
        """The storage fills, fails, or is repaired. A take ends with its safe part, and appears when the storage permits it."""
        self.storage = storage
        if self.deck == "recording" and storage == "full":
            self._end("disk-full", (at - UNREAD, at + 3))
        elif self.deck == "recording" and storage == "read-only":
            self.cut, self.open, self.deck = self.open, None, "idle"
            self.cut.ended_by, self.cut.ended, self.cut.recovered = "storage-error", (at - UNSYNCED, at + 3), True
        elif storage == "ok" and self.cut:
            take, self.cut = self.cut, None
            was_last = self.selected is self.takes[-1]
            self.takes.append(take)
            if was_last:
                self.selected = take

    def date_steps(self, seconds):
        """An unknown process set the date."""
        self.calendar += seconds
        self.is_dating_due = True

    def date_is_confirmed(self):
        """The network confirms that the current date is right."""
        self.right_calendar = self.calendar
        self.is_dating_due = True
