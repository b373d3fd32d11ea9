"""What a card must hold after a cut, derived from the earlier recording, and what it lacks.

While the storage answers, a power cut costs 1 s of sound and of the sidecar's statements. It costs nothing of a finished take.
"""
import json
import os
import struct

from takefolder import Sound, TakeFolder, same_bytes, twin, zeroed

PROMISE = 1.0
# If two ticks are further apart than this, the host had suspended the board.
STALL = 0.05


class Truth:
    """The recorded takes, and what a cut at a point of the log may cost."""

    def __init__(self, share, log):
        self.log = log
        # Whether frames that were not synced may contain anything.
        self.has_noise = False
        self.folder = TakeFolder(share / "takes")
        self.takes = {take["stem"]: take for take in json.loads((share / "truth.json").read_text())["takes"]}
        for stem, take in self.takes.items():
            take["sidecar"] = self.folder.sidecar(stem)
            paths = self.folder.parts(stem)
            take["sounds"] = [Sound(path) for path in paths]
            take["twins"] = [Sound(twin(path)) if os.path.exists(twin(path)) else None for path in paths]
            take["synced"] = []
        self.instants = []
        following = None
        for number in range(len(log.entries) - 1, -1, -1):
            words = (log.entries[number].text or "").split()
            if words[:1] == ["tick"]:
                following = int(words[1]) / 1e9
            elif words[:1] == ["finished"]:
                self.takes[words[1]]["finished"] = number
            elif words[:1] == ["synced"]:
                self.takes[words[1]]["synced"].append((number, int(words[2])))
            self.instants.append(following)
        self.instants.reverse()
        ticks = sorted(set(filter(None, self.instants)))
        self.gaps = [(late, late - early) for early, late in zip(ticks, ticks[1:]) if late - early > STALL]

    def allowed(self, instant):
        """The seconds that a cut may cost. If the host suspended the board, more: as if the storage had not answered."""
        return PROMISE + sum(gap for late, gap in self.gaps if instant - 2 * PROMISE < late <= instant + STALL)

    def instant(self, count):
        """The latest instant of a power cut that leaves the disk in its state after `count` entries."""
        return self.instants[count] if count < len(self.instants) else None


class Verdict:
    """The errors at one point, and the cost of the cut."""

    def __init__(self):
        self.faults = []
        self.loss = 0.0
        # The additional loss that the host's stalls permit, where it occurred.
        self.excused = 0.0
        # Frames lost beyond the promise, permitted or not.
        self.beyond = 0
        # Seconds of silence at the end of a twin that were not sampled.
        self.zeroed = 0.0
        # The highest number that was given out, and the final content of the folder.
        self.given, self.folder = 0, None

    def hold(self, holds, fact):
        """Records a fact that does not hold. Returns whether it does."""
        if not holds:
            self.faults.append(fact)
        return holds


def check_untouched(verdict, before, after, truth, count):
    """Checks that finished takes and foreign files are unchanged, to the byte."""
    readable = before.readable()
    for stem, take in truth.takes.items():
        if take["finished"] < count:
            verdict.hold(stem in readable, f"{stem} was finished and has no sidecar")
    for name, traits in before.files.items():
        stem = before.stem(name)
        is_leftover = stem is None and not name.endswith("notes.txt") or stem is not None and stem not in readable
        if is_leftover or name.endswith((".part", ".tmp")):
            continue
        verdict.hold(after.files.get(name) == traits, f"{name} was touched: {traits}, then {after.files.get(name)}")
        # An earlier recovered take is shorter than the truth: check_take knows by how much it may be.
        if name not in after.files or stem and after.sidecar(stem)["recovered"]:
            continue
        verdict.hold(name in truth.folder.files and same_bytes(after.full(name), truth.folder.full(name)), f"{name} changed")


def check_sound(verdict, stem, folder, sidecar, take, sure, sure_of_twin):
    """Checks that the sound equals the recorder's up to the frame `sure`, and so does its unfiltered twin up to its own frame: the twin
    is synced after the filtered sound, and may be missing until then. Returns the number of frames that both have, including a requested
    twin."""
    in_both = 0
    for number, (part, path) in enumerate(zip(sidecar["parts"], folder.parts(stem))):
        is_last = number + 1 == len(sidecar["parts"])
        sure_here, twin_here = (max(0, each - part["first_frame"]) for each in (sure, sure_of_twin))
        frames = check_file(verdict, path, part, take["sounds"][number], sidecar, take, is_last, sure_here, sure_here)
        if take["twins"][number]:
            if twin_here == 0 and number == 0 and not os.path.exists(twin(path)):
                continue
            twins = check_file(verdict, twin(path), part, take["twins"][number], sidecar, take, is_last, sure_here, twin_here, is_twin=True)
            in_both += min(frames, twins)
        else:
            in_both += frames
            verdict.hold(not os.path.exists(twin(path)), f"{twin(path)}: it was not asked for")
    return in_both


def check_file(verdict, path, part, meant, sidecar, take, is_last, sure, least, is_twin=False):
    """Checks that one file of a part equals the recorder's up to the frame `sure`, and has at least `least` frames. Returns its frames."""
    try:
        sound = Sound(path)
    except Exception as error:
        verdict.hold(False, f"{path}: {error!r}")
        return 0
    verdict.hold(sound.is_whole(), f"{path}: header {sound.riff_size}, chunks to {sound.end}, file {sound.size}")
    listed = part.get("unfiltered_frames", part["frames"]) if is_twin else part["frames"]
    verdict.hold(sound.frames == listed, f"{path}: {sound.frames} frames, {listed} in the sidecar")
    verdict.hold(sound.frames >= min(least, meant.frames), f"{path}: {sound.frames} frames, and {least} were on the disk")
    verdict.hold(sound.frames <= meant.frames, f"{path}: {sound.frames} frames, {meant.frames} were recorded")
    # The twin is synced after the filtered sound. That sync may commit a length of the twin whose frames are not written yet.
    silent = zeroed(sound, meant) if is_twin else 0
    verdict.zeroed = max(verdict.zeroed, silent / sound.block / sound.rate)
    known = min(min(sound.bytes, meant.bytes) - silent, sure * sound.block)
    same = same_bytes(path, meant.path, known, sound.place, meant.place)
    verdict.hold(same, f"{path}: is not the sound that was recorded")
    if not is_last:
        verdict.hold(sound.frames == meant.frames, f"{path}: {sound.frames} frames, then another part, not {meant.frames}")
    same = sound.chunk("bext") == meant.chunk("bext") or sidecar["started"] != take["sidecar"]["started"]
    verdict.hold(same, f"{path}: another bext chunk")
    range_ = range(part["first_frame"], part["first_frame"] + part["frames"])
    has_markers = any(marker["at_frame"] in range_ for marker in sidecar["markers"])
    verdict.hold(has_markers <= ("cue " in sound.chunks), f"{path}: has markers and no cue points")
    return sound.frames


def read(path):
    """Returns the content of a small file."""
    with open(path, "rb", buffering=0) as file:
        return file.read()


def check_peaks(verdict, stem, folder, sidecar, truth, sure):
    """Checks that the waveform is the beginning of the true one."""
    name = folder.sidecars[stem].removesuffix(".json") + ".dat"
    if not verdict.hold(name in folder.files, f"{name} is missing"):
        return
    found, meant = (read(each.full(name)) for each in (folder, truth.folder))
    if not verdict.hold(len(found) >= 24, f"{name}: {len(found)} bytes"):
        return
    _, _, _, _, length, channels = struct.unpack_from("<iIiiIi", found)
    verdict.hold(len(found) == 24 + length * channels * 2, f"{name}: {len(found)} bytes, {length} pixels")
    verdict.hold(length == -(-sidecar["frames"] // 256), f"{name}: {length} pixels for {sidecar['frames']} frames")
    whole = 24 + min(sure, sidecar["frames"]) // 256 * channels * 2
    verdict.hold(found[24:whole] == meant[24:whole], f"{name}: is not the waveform of the sound")


def check_take(verdict, stem, folder, truth, instant, count):
    """Checks a take that recovery made, or that was whole. Returns the number of frames that all its files have."""
    take, sidecar = truth.takes[stem], folder.sidecar(stem)
    meant = take["sidecar"]
    # In the take's first second, the sidecar may state the press instead of the first frame.
    stated = ("take", "number", "kit", "boot_id", "clock", "card", "rate_hz", "channels", "format", "gain_db", "agc", "version")
    if instant - take["pressed"] > truth.allowed(instant):
        stated += ("started", "started_monotonic_ns", "pre_roll_frames")
    for key in stated:
        verdict.hold(sidecar[key] == meant[key], f"{stem}: {key} is {sidecar[key]}, not {meant[key]}")
    parts = [{key: part[key] for key in ("file", "first_frame", "rate_hz", "format")} for part in sidecar["parts"]]
    all_parts = [{key: part[key] for key in ("file", "first_frame", "rate_hz", "format")} for part in meant["parts"]]
    verdict.hold(parts == all_parts[: len(parts)], f"{stem}: parts {parts}")
    frames = sum(part["frames"] for part in sidecar["parts"])
    verdict.hold(frames == sidecar["frames"], f"{stem}: {sidecar['frames']} frames, {frames} in its parts")
    verdict.hold(abs(sidecar["duration_seconds"] - frames / sidecar["rate_hz"]) < 1e-5, f"{stem}: duration")
    verdict.hold(sidecar["gaps"] == meant["gaps"], f"{stem}: gaps {sidecar['gaps']}")
    begun = meant["started_monotonic_ns"] / 1e9
    for key in ("markers", "filter"):
        old = [each for each in meant[key] if begun + each["at_frame"] / meant["rate_hz"] < instant - truth.allowed(instant)]
        verdict.hold(sidecar[key] == meant[key][: len(sidecar[key])], f"{stem}: {key} {sidecar[key]}")
        verdict.hold(len(sidecar[key]) >= len(old), f"{stem}: {key} lost: {sidecar[key]}, {old} are older than 1 s")
    for number, synced in take["synced"]:
        if number < count:
            verdict.hold(frames >= synced, f"{stem}: {frames} frames, {synced} were reported to be on the disk")
    synced = max((frames for number, frames in take["synced"] if number < count), default=0)
    sure = synced if truth.has_noise and take["finished"] >= count else frames
    # Sound that was reported to be on the disk is in both files.
    sure_of_twin = frames if take["finished"] < count else min(sure, synced)
    in_both = check_sound(verdict, stem, folder, sidecar, take, sure, sure_of_twin)
    check_peaks(verdict, stem, folder, sidecar, truth, sure)
    return in_both


def check_leftover(verdict, stem, folder, sidecar_before):
    """Checks recovery's statements about a take that was cut."""
    sidecar = folder.sidecar(stem)
    verdict.hold(sidecar["recovered"] is True, f"{stem}: recovered is {sidecar['recovered']}")
    meant = (sidecar_before or {}).get("ended_by") or "power-cut"
    verdict.hold(sidecar["ended_by"] == meant, f"{stem}: ended by {sidecar['ended_by']}, not {meant}")
    rest = [name for name in folder.of(stem) if name.endswith((".part", ".tmp"))]
    verdict.hold(not rest, f"{stem}: left behind: {rest}")


def drafts(folder):
    """Returns the statements of unfinished takes' sidecars. If one cannot be read, its replacement is used."""
    found = {}
    for stem, names in folder.leftovers.items():
        for kind in (".json.part.tmp", ".json.part"):
            for name in names:
                if name.endswith(kind):
                    try:
                        found[stem] = json.loads(read(folder.full(name)))
                    except ValueError:
                        found.setdefault(stem)
    return found
