"""A folder of takes from the view of another reader: its contents, and whether they are unchanged.

Files are read in pieces into memory that is reused: a fresh page costs the board a tenth of a millisecond.
"""
import collections
import json
import os
import re
import struct

PIECE = 1 << 20
_one, _other = bytearray(PIECE), bytearray(PIECE)

# Traits that change when a file is changed. FAT and exFAT have no inodes: the kernel numbers files as they are opened.
Traits = collections.namedtuple("Traits", "inode size modified")
has_inodes = True


def listing(folder):
    """Returns the traits of the files below a folder, by path. The lock may appear and disappear, so it is omitted. So is a name without
    a file, which a cut may leave on exFAT."""
    found = {}

    def walk(path, below):
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    # Files in the bin are in no list.
                    if entry.name == ".bin":
                        continue
                    walk(entry.path, f"{below}{entry.name}/")
                else:
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    found[below + entry.name] = Traits(has_inodes and status.st_ino, status.st_size, status.st_mtime_ns)

    if os.path.exists(folder):
        walk(folder, "")
    found.pop(".lock", None)
    return found


def same_bytes(path, other, count=None, at=0, other_at=0):
    """Whether two files hold the same `count` bytes, or the same bytes to their ends."""
    with open(path, "rb", buffering=0) as a, open(other, "rb", buffering=0) as b:
        if count is None:
            if os.fstat(a.fileno()).st_size - at != os.fstat(b.fileno()).st_size - other_at:
                return False
            count = os.fstat(a.fileno()).st_size - at
        a.seek(at)
        b.seek(other_at)
        while count > 0:
            size = min(PIECE, count)
            if size < PIECE:
                one, two = a.read(size), b.read(size)
            else:
                one, two = _one, _other
                if a.readinto(one) != size or b.readinto(two) != size:
                    return False
            if one != two or len(one) != size:
                return False
            count -= size
    return True


class Sound:
    """A WAV file; its samples are not read."""

    def __init__(self, path):
        self.path = str(path)
        with open(path, "rb", buffering=0) as file:
            self.size = os.fstat(file.fileno()).st_size
            riff, riff_size, wave = struct.unpack("<4sI4s", file.read(12))
            if (riff, wave) != (b"RIFF", b"WAVE"):
                raise ValueError(f"{path}: not a WAV file")
            self.riff_size = riff_size + 8
            self.chunks, position = {}, 12
            while position + 8 <= self.size:
                name, size = struct.unpack("<4sI", os.pread(file.fileno(), 8, position))
                self.chunks[name.decode("latin-1")] = (position + 8, size)
                position += 8 + size + size % 2
            self.end = position
            form = os.pread(file.fileno(), 16, self.chunks["fmt "][0])
        _, self.channels, self.rate, _, self.block, _ = struct.unpack("<HHIIHH", form)
        self.place, self.bytes = self.chunks["data"]
        self.frames = self.bytes // self.block

    def chunk(self, name):
        """Returns the bytes of a chunk."""
        place, size = self.chunks[name]
        with open(self.path, "rb", buffering=0) as file:
            return os.pread(file.fileno(), size, place)

    def is_whole(self):
        """Whether its header and its chunks agree with the file's length, and hold whole frames."""
        return self.riff_size == self.size == self.end and self.bytes % self.block == 0


def twin(path):
    """Returns the path of the unfiltered sound of a part."""
    folder, name = os.path.split(str(path))
    return os.path.join(folder, re.sub(r"^[^._]*", r"\g<0>-raw", name))


def number(stem):
    """Returns the number of a take."""
    return int(re.search(r"-(\d{4,})(?:_|-\d{6}Z)", stem)[1])


def named(name):
    """Returns the stem in a file's name, and whether the name has a later part's time instead. The stem is None if the file belongs to
    no take."""
    found = re.match(
        r"(?:\d{4}-\d\d-\d\d|unset)/(?:([a-z0-9-]+-\d{4,}-\d{6}Z)|([a-z0-9-]+-\d{4,})(-p\d+)?(?:-raw)?_(\d{8}_\d{6}|unset)(?![^.]))",
        name)
    if not found:
        return None, False
    old, start, part, time = found.groups()
    return old or f"{start}_{time}", bool(part) and time != "unset"


def zeroed(sound, meant, block=4096):
    """Returns the number of zero bytes in the last block of a file that was cut, in place of recorded sound.

    With the next commit of its journal, ext4 lets a file grow within its allocated block, independently of syncs; the bytes arrive with
    the file's own sync.
    """
    end = sound.place + min(sound.bytes, meant.bytes)
    start = max(sound.place, (end - 1) // block * block)
    with open(sound.path, "rb", buffering=0) as a, open(meant.path, "rb", buffering=0) as b:
        one = os.pread(a.fileno(), end - start, start)
        two = os.pread(b.fileno(), end - start, start - sound.place + meant.place)
    first = next((i for i, (x, y) in enumerate(zip(one, two)) if x != y), len(one))
    return 0 if any(one[first:]) else len(one) - first


def has_leftovers(folder):
    """Whether a take is unfinished, in a folder that a recorder may be using: no file is read."""
    return any(
        name.endswith((".part", ".tmp")) and named(f"{os.path.basename(day)}/{name}")[0]
        for day, _, names in os.walk(folder) for name in names if f"{os.sep}.bin" not in day)


class TakeFolder:
    """The takes in a folder, by stem."""

    def __init__(self, path):
        self.path = str(path)
        self.files = listing(path)
        # The stems at the beginning of files' names, by day and number: a later part has another time in its name.
        self.begun = {}
        for name in self.files:
            stem, is_later = named(name)
            if stem and not is_later:
                self.begun.setdefault((os.path.dirname(name), stem.partition("_")[0]), set()).add(stem)
        self.sidecars, self.leftovers = {}, {}
        for name in sorted(self.files):
            stem = self.stem(name)
            if stem is None:
                continue
            if name.endswith(".json"):
                self.sidecars[stem] = name
            elif name.endswith((".part", ".tmp")):
                self.leftovers.setdefault(stem, []).append(name)

    def stem(self, name):
        """Returns the take of a file, or None. A later part belongs to the last take of its number that began before it."""
        stem, is_later = named(name)
        begun = self.begun.get((os.path.dirname(name), stem.partition("_")[0]), ()) if is_later else ()
        return max((one for one in begun if one <= stem), default=min(begun, default=stem))

    def of(self, stem):
        """Returns the files of a take."""
        return {name: traits for name, traits in self.files.items() if self.stem(name) == stem}

    def sidecar(self, stem):
        """Returns the sidecar of a finished take."""
        with open(self.full(self.sidecars[stem])) as file:
            return json.load(file)

    def readable(self):
        """The finished takes whose sidecar has content: a repair may have emptied one that was being replaced."""
        return {stem for stem, name in self.sidecars.items() if self.files[name].size}

    def is_replaced(self, stem):
        """Whether only the next revision of a take's sidecar exists."""
        for name in self.of(stem):
            if name.endswith(".json.tmp") and not name.endswith(".json.part.tmp"):
                try:
                    with open(self.full(name)) as file:
                        return bool(json.load(file))
                except ValueError:
                    return False
        return False

    def full(self, name):
        return os.path.join(self.path, name)

    def parts(self, stem):
        """Returns the paths of the audio files that a finished take's sidecar names."""
        day = os.path.dirname(self.sidecars[stem])
        return [self.full(f"{day}/{part['file']}") for part in self.sidecar(stem)["parts"]]

    def highest(self):
        """Returns the highest number that a take has, or that was given out."""
        numbers = [number(stem) for stem in map(self.stem, self.files) if stem]
        for name in {".number", ".number.tmp"} & set(self.files):
            with open(self.full(name)) as file:
                text = file.read()
            numbers += [int(text)] if text.strip().isdigit() else []
        return max(numbers, default=0)
