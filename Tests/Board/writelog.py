"""The write log of a disk (dm-log-writes), and the state of the disk at any cut point.

The kernel logs a write once a flush made it safe, in the order in which it reached the disk. A mark is logged at once, so the entries
between two marks became safe between their instants. A write that is not in the log yet may be on the disk, or not.
"""
import collections
import fcntl
import os
import random
import struct

FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
BLOCK = 4096

# A log entry: flags, place on the disk, number of bytes, place in the log, and the text of a mark.
Entry = collections.namedtuple("Entry", "flags place length offset text")


class WriteLog:
    """A log that `run-board -d DISK -w LOG` made."""

    def __init__(self, path):
        self.file = open(path, "rb")
        magic, version, count, block = struct.unpack("<QQQI", self.file.read(28))
        if (magic, version) != (0x6A736677736872, 1):
            raise ValueError(f"{path}: not a log of dm-log-writes")
        self.entries, position = [], block
        for _ in range(count):
            sector, sectors, flags, length = struct.unpack("<QQQQ", os.pread(self.file.fileno(), 32, position))
            position += block
            text = os.pread(self.file.fileno(), length, position - block + 32).decode() if flags & MARK else None
            has_data = not flags & (MARK | DISCARD)
            self.entries.append(Entry(flags, sector * block, 0 if flags & MARK else sectors * block, position, text))
            position += sectors * block if has_data else 0

    def data(self, entry):
        """Returns the written bytes."""
        if entry.flags & DISCARD:
            return bytes(entry.length)
        return os.pread(self.file.fileno(), entry.length, entry.offset)


class Replay:
    """A disk image that follows a log from its beginning.

    `image` is a file open for reading and writing, with the disk's content from before the log. Writes that a flush made safe are
    written there; `finish` handles those after the last flush.
    """

    def __init__(self, log, image):
        self.log, self.image = log, image
        self.count = 0
        self.unflushed = []

    def advance(self, count):
        """Applies the log up to its first `count` entries."""
        for entry in self.log.entries[self.count : count]:
            if entry.flags & FLUSH:
                for safe in self.unflushed:
                    self._write(self.image, safe)
                self.unflushed.clear()
            if entry.length:
                self.unflushed.append(entry)
        self.count = max(self.count, count)

    def finish(self, image, seed=None, share=0.5):
        """Applies the writes since the last flush to an image that holds the safe ones.

        With a seed, a volatile cache lost some of its 4 KiB blocks: only that share of them is written.
        """
        chance = random.Random(seed)
        for entry in self.unflushed:
            self._write(image, entry, lambda: seed is None or entry.flags & FUA or chance.random() < share)

    def _write(self, image, entry, keeps=None):
        data = self.log.data(entry)
        if keeps is None:
            os.pwrite(image.fileno(), data, entry.place)
            return
        for i in range(0, len(data), BLOCK):
            if keeps():
                os.pwrite(image.fileno(), data[i : i + BLOCK], entry.place + i)


class LoggedDisk:
    """The disk whose writes are being logged on this board, for marks (DM_TARGET_MSG of linux/dm-ioctl.h)."""

    def __init__(self, name="data"):
        self.name = name.encode()
        self.control = os.open("/dev/mapper/control", os.O_RDWR)

    def mark(self, text):
        """Writes a mark into the log."""
        message = struct.pack("<Q", 0) + b"mark " + text.replace(" ", "\\ ").encode() + b"\0"
        head = struct.pack("<3I7IQ128s129s7x", 4, 0, 0, 312 + len(message), 312, 0, 0, 0, 0, 0, 0, self.name, b"")
        fcntl.ioctl(self.control, 0xC138FD0E, bytearray(head + message))
