"""Compares the takes on disk with those of a model: their names, their sidecars, and whether finished files are unchanged."""
import calendar
import hashlib
import json
import time

from takefolder import PIECE, Sound, TakeFolder, number

# The accuracy with which frames are found by time.
EXACT = 0.005
# A draft of a sidecar contains everything older than this.
DRAFTED = 1.3
_piece = bytearray(PIECE)


def seconds_of(text):
    """Converts ISO 8601 to seconds since 1970."""
    whole, fraction = text.removesuffix("Z").split(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + int(fraction) / 1e6


def digest(path):
    with open(path, "rb", buffering=0) as file:
        found = hashlib.sha256()
        while count := file.readinto(_piece):
            found.update(memoryview(_piece)[:count])
        return found.digest()


class TakesCheck:
    """Compares the takes in a folder with those of a model."""

    def __init__(self, path, model, rate):
        self.path, self.model, self.rate = path, model, rate
        self.known, self.traits, self.digests = {}, {}, {}
        # Forbidden changes of sidecars.
        self.changed = []
        # The stem of the take that is recorded.
        self.unfinished = None

    def stem(self, take):
        """Returns a take's stem, or None before it was seen."""
        return take and next((stem for stem in self.known if number(stem) == take.number), None)

    def wrong(self, now):
        """Returns the errors in the takes' names and sidecars."""
        while True:
            try:
                return self._amiss(now)
            except FileNotFoundError:
                # A file was renamed since the folder was listed.
                continue

    def _amiss(self, now):
        here = TakeFolder(self.path)
        for stem, name in here.sidecars.items():
            if self.traits.get(name) == here.files[name]:
                continue
            self.traits[name], sidecar = here.files[name], here.sidecar(stem)
            before = self.known.setdefault(stem, sidecar)
            changed = {key for key in before | sidecar if before.get(key) != sidecar.get(key)}
            if changed and (changed - {"clock_map"} != {"started_corrected", "revision"} or sidecar["revision"] <= before["revision"]):
                self.changed.append(f"{stem}: its sidecar changed in {sorted(changed)}, revision {before['revision']}, then {sidecar['revision']}")
            self.known[stem] = sidecar
        found = list(self.changed)
        numbers = [take.number for take in self.model.takes]
        stated = sorted(sidecar["number"] for stem, sidecar in self.known.items() if stem in here.sidecars)
        if stated != numbers:
            found.append(f"takes {stated} are on disk, not {numbers}")
        for take in self.model.takes:
            if (stem := self.stem(take)) and take.pressed:
                found += [f"{stem}: {what}" for what in self._take_amiss(take, self.known[stem])]
        unfinished = [take.number for take in (self.model.open, self.model.cut) if take]
        self.unfinished = next(iter(here.leftovers), None)
        left = sorted(number(stem) for stem in here.leftovers)
        if left != unfinished:
            found.append(f"unfinished takes {left} are on disk, not {unfinished}")
        elif self.model.open:
            found += self._draft_amiss(here, now)
        return found

    def _take_amiss(self, take, sidecar):
        begun = sidecar["started_monotonic_ns"] / 1e9
        meant = {"number": take.number, "ended_by": take.ended_by, "recovered": take.recovered, "clock": take.clock, "kit": "board"}
        yield from (f"{key} is {sidecar[key]}, not {value}" for key, value in meant.items() if sidecar[key] != value)
        if not take.begun[0] - EXACT <= begun <= take.begun[1] + EXACT:
            yield f"begins {begun - take.pressed:.4f} s after its press"
        if abs(seconds_of(sidecar["started"]) - begun - take.calendar) > 0.1:
            yield f"started is {seconds_of(sidecar['started']) - begun - take.calendar:.3f} s off the calendar"
        best = sidecar["started_corrected"] or (sidecar["started"] if take.clock != "unset" else None)
        if self.model.are_dated and not (best and abs(seconds_of(best) - begun - self.model.calendar) < 0.15):
            yield f"its true start is not stated: started {sidecar['started']}, corrected {sidecar['started_corrected']}"
        parts = sidecar["parts"]
        ended = begun + (parts[-1]["first_frame"] + parts[-1]["frames"]) / self.rate
        if not take.ended[0] - EXACT <= ended <= take.ended[1] + EXACT:
            yield f"ends {ended - take.ended[0]:.4f} s after {take.ended_by}, {take.ended[1] - take.ended[0]:.2f} s allowed"
        if len(parts) != take.parts or [gap["cause"] for gap in sidecar["gaps"]] != ["card-lost"] * (take.parts - 1):
            yield f"{len(parts)} parts, gaps {sidecar['gaps']}, for {take.parts} parts"
        yield from self._markers_amiss(take.markers, sidecar)
        take.seconds = sidecar["frames"] / self.rate

    def _markers_amiss(self, markers, sidecar):
        begun = sidecar["started_monotonic_ns"] / 1e9
        stated = [begun + marker["at_frame"] / self.rate for marker in sidecar["markers"]]
        if len(stated) != len(markers) or any(not low - EXACT <= at <= high + EXACT for at, (low, high) in zip(stated, markers)):
            yield f"markers at {[round(at - begun, 3) for at in stated]}, not {[round(at - begun, 3) for _, at in markers]}"

    def _draft_amiss(self, here, now):
        """Returns what the sidecar of the current take lacks."""
        stem, names = next(iter(here.leftovers.items()))
        name = next((name for name in names if name.endswith(".json.part")), None)
        if not name:
            return [] if now - self.model.open.pressed < DRAFTED else [f"{stem}: has no sidecar yet"]
        with open(here.full(name)) as file:
            markers = json.load(file)["markers"]
        due = sum(at < now - DRAFTED for at, _ in self.model.open.markers)
        return [] if due <= len(markers) <= len(self.model.open.markers) else [f"{stem}: {len(markers)} markers in its draft, {due} are due"]

    def bytes_wrong(self):
        """Returns the finished takes' files that have changed since they were first seen, or are incomplete."""
        here, found = TakeFolder(self.path), []
        for stem in here.sidecars:
            for name in here.of(stem):
                if name.endswith(".json"):
                    continue
                now = digest(here.full(name))
                if self.digests.setdefault(name, now) != now:
                    found.append(f"{name} changed")
            lost = [name for name in self.digests if here.stem(name) == stem and name not in here.files]
            found += [f"{name} is gone" for name in lost]
            frames = [(Sound(path), part) for path, part in zip(here.parts(stem), self.known[stem]["parts"])]
            found += [f"{sound.path}: {sound.frames} frames, {part['frames']} stated" for sound, part in frames
                      if sound.frames != part["frames"] or sound.riff_size != sound.size]
        return found
