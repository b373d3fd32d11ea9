"""Sound whose frames carry their numbers (`sound.counted`), and an analysis of the takes made from it, based on the sound alone."""
import array
import collections
import os
import struct
import time

from sound import BYTES, Player, counted
from takefolder import Sound, same_bytes

# Consecutive frames of a take that follow each other in the played sound: where they begin in the take, how many they are, the number of
# the first, and whether they equal the played sound bit for bit.
Stretch = collections.namedtuple("Stretch", "at frames number is_exact")


def numbers(data, block):
    """Returns the numbers that frames of `block` bytes carry."""
    return array.array("I", data)[:: block // 4]


def lacking(numbers, first, last):
    """Returns how many of the frames from number `first` to `last` are missing in `numbers`."""
    return max(0, last - first + 1) - len({number for number in numbers if first <= number <= last})


class Numbered:
    """Some seconds of numbered sound in a file, played once into a PCM: at once, or at `start`."""

    def __init__(self, pcm, rate, layout, channels, seconds, seed, is_started=True):
        self.rate, self.block = rate, BYTES[layout] * channels
        self.path = f"/dev/shm/numbered-{time.monotonic_ns()}.raw"
        # The noise repeats each second, because the board needs long to make it.
        piece = bytearray(counted(rate, channels, layout, seed))
        with open(self.path, "wb") as file:
            for second in range(seconds):
                numbers = array.array("I", range(second * rate, (second + 1) * rate)).tobytes()
                for i in range(4):
                    piece[i :: self.block] = numbers[i::4]
                file.write(piece)
        self.way = (pcm, rate, layout, channels, self.path)
        if is_started:
            self.start()

    def start(self):
        """Begins to play."""
        self.player = Player(*self.way, goes_first=True)

    def stop(self):
        """Ends playback. The played sound is kept for comparison."""
        self.player.stop()

    def clear(self):
        """Removes the played sound's file."""
        os.unlink(self.path)

    def is_exact(self, sound, at, frames, number):
        """Whether frames of a WAV file equal the played sound from a number on."""
        return frames <= 0 or same_bytes(
            sound.path, self.path, frames * self.block, sound.place + at * self.block, number * self.block)

    def number(self, sound, at):
        """Returns the number that a frame of a WAV file carries."""
        with open(sound.path, "rb", buffering=0) as file:
            return struct.unpack("<I", os.pread(file.fileno(), 4, sound.place + at * self.block))[0]

    def stretches(self, take, part=0):
        """Returns the stretches of a take's part between the gaps that its sidecar lists."""
        stated = take.sidecar["parts"][part]
        sound = Sound(take.path.parent / stated["file"])
        first, end = stated["first_frame"], stated["first_frame"] + stated["frames"]
        found, at = [], first
        for gap in [*take.sidecar["gaps"], {"at_frame": end, "frames": 0}]:
            if not first <= gap["at_frame"] <= end:
                continue
            if (frames := gap["at_frame"] - at) > 0:
                number = self.number(sound, at - first)
                found.append(Stretch(at, frames, number, self.is_exact(sound, at - first, frames, number)))
            at = gap["at_frame"] + gap["frames"]
        return found

    def lacks(self, take, frames=None):
        """Returns how many of `frames` frames (default: from its first to its last) a take lacks or holds differently."""
        stretches = [stretch for part in range(len(take.sidecar["parts"])) for stretch in self.stretches(take, part)]
        if frames is None:
            frames = stretches[-1].number + stretches[-1].frames - stretches[0].number if stretches else 0
        return max(0, frames - sum(stretch.frames for stretch in stretches if stretch.is_exact))

    def holds_all(self, take):
        """Whether the take is one stretch of the played sound over all of its parts, without a gap, bit for bit."""
        stretches = [stretch for part in range(len(take.sidecar["parts"])) for stretch in self.stretches(take, part)]
        follows = all(
            (two.at, two.number) == (one.at + one.frames, one.number + one.frames)
            for one, two in zip(stretches, stretches[1:]))
        whole = sum(stretch.frames for stretch in stretches) == take.sidecar["frames"]
        return bool(stretches) and follows and whole and all(stretch.is_exact for stretch in stretches)
