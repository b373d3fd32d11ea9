"""Sound in which every stretch is unique and whose level changes, so that a meter's display and a player's output can be compared with
it."""
import random
import time

from sound import Player, interleave, pack, sines

# The four lowest bits are noise.
NOISE = bytes(value & 15 for value in range(256))
TONE = 441


class Findable:
    """Minutes of 16-bit stereo, played once: a few seconds at each level in turn, as peaks of (left, right) in dBFS."""

    layout, channels, block = "S16_LE", 2, 4

    def __init__(self, pcm, rate, levels, each, seconds, seed):
        chance = random.Random(seed)
        tones = []
        for level in levels:
            exact = pack(interleave([sines(rate, [(TONE, 10 ** (decibel / 20))]) for decibel in level]), self.layout)
            tones.append(int.from_bytes(exact, "little"))
        size = rate * self.block
        lowest = int.from_bytes(b"\x0f\x00" * (size // 2), "little")
        pieces = []
        for second in range(seconds):
            noise = bytearray(size)
            noise[::2] = chance.randbytes(size // 2).translate(NOISE)
            tone = tones[second // each % len(tones)]
            pieces.append((tone & ~lowest | int.from_bytes(noise, "little")).to_bytes(size, "little"))
        self.data = b"".join(pieces)
        self.path = f"/dev/shm/findable-{time.monotonic_ns()}.raw"
        with open(self.path, "wb") as file:
            file.write(self.data)
        self.player = Player(pcm, rate, self.layout, self.channels, self.path, goes_first=True)

    def find(self, stretch, since=0):
        """Returns the frame at or after `since` at which some bytes begin, bit for bit, or None if they were not played."""
        at = self.data.find(stretch, since * self.block)
        while at >= 0 and at % self.block:
            at = self.data.find(stretch, at + 1)
        return at // self.block if at >= 0 else None

    def runs(self, heard, least=64):
        """Finds the stretches of some bytes that were played without a break, each of at least `least` frames: (frame, count). Silence
        is omitted."""
        found, at, step = [], 0, least * self.block
        while at + step <= len(heard):
            if not any(heard[at : at + self.block]) or (frame := self.find(heard[at : at + step])) is None:
                at += self.block
                continue
            size = step
            while heard[at + size : at + size + self.block] == self.data[frame * self.block + size : frame * self.block + size + self.block] != b"":
                size += self.block
            found.append((frame, size // self.block))
            at += size
        return found

    def stop(self):
        """Ends playback. The played sound can still be found."""
        self.player.stop()
