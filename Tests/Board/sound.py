"""Sound for the scenarios: generated, played into a card, read from WAV files, and measured, without packages other than Python's own.

Samples are held as 32-bit integers, full scale 2³¹, regardless of the layout in which they are played or stored.
"""
import array
import functools
import math
import operator
import os
import random
import struct
import subprocess
import time

FULL_SCALE = 2.0**31
BYTES = {"S16_LE": 2, "S24_3LE": 3, "S24_LE": 4, "S32_LE": 4, "FLOAT_LE": 4}


def pack(samples, layout):
    """Converts 32-bit samples to bytes of an ALSA layout. Bits that do not fit are cut off."""
    if layout == "S32_LE":
        return samples.tobytes()
    if layout == "S16_LE":
        return array.array("h", [s >> 16 for s in samples]).tobytes()
    if layout == "S24_LE":
        return array.array("i", [s >> 8 for s in samples]).tobytes()
    if layout == "FLOAT_LE":
        return array.array("f", [s / FULL_SCALE for s in samples]).tobytes()
    wide, packed = samples.tobytes(), bytearray(3 * len(samples))
    for i in range(3):
        packed[i::3] = wide[i + 1 :: 4]
    return bytes(packed)


def unpack(data, layout):
    """Converts bytes of a layout to 32-bit samples."""
    if layout == "S32_LE":
        return array.array("i", data)
    if layout == "S16_LE":
        return array.array("i", [s << 16 for s in array.array("h", data)])
    if layout == "S24_LE":
        return array.array("i", [((s & 0xFFFFFF) ^ 0x800000) - 0x800000 << 8 for s in array.array("i", data)])
    if layout == "FLOAT_LE":
        return array.array("i", [max(-(2**31), min(2**31 - 1, round(s * FULL_SCALE))) for s in array.array("f", data)])
    wide = bytearray(len(data) // 3 * 4)
    for i in range(3):
        wide[i + 1 :: 4] = data[i::3]
    return array.array("i", bytes(wide))


def interleave(channels):
    """Interleaves several channels of one length."""
    if len(channels) == 1:
        return channels[0]
    mixed = array.array("i", bytes(4 * len(channels) * len(channels[0])))
    for i, channel in enumerate(channels):
        mixed[i :: len(channels)] = channel
    return mixed


def sines(rate, tones):
    """Returns one second of a sum of sines, (whole hertz, peak relative to full scale) each, so that it can be repeated."""
    sums = [0.0] * rate
    for frequency, peak in tones:
        one = [peak * FULL_SCALE * math.sin(2 * math.pi * i / rate) for i in range(rate)]
        sums = [s + one[i * frequency % rate] for i, s in enumerate(sums)]
    return array.array("i", [round(s) for s in sums])


def noise(frames, seed):
    """White noise over all 32 bits."""
    return array.array("i", random.Random(seed).randbytes(4 * frames))


def counted(frames, channels, layout, seed, first=0):
    """Returns noise in which every frame is unique: its first 32 bits are its number, starting at `first`."""
    width = BYTES[layout] * channels
    data = bytearray(random.Random(seed).randbytes(width * 65536) * (frames // 65536 + 1))[: width * frames]
    numbers = array.array("I", range(first, first + frames)).tobytes()
    for i in range(4):
        data[i::width] = numbers[i::4]
    return bytes(data)


class Player:
    """Plays sound into a PCM with aplay for a given number of rounds, or until it is stopped.

    `data` is bytes, or the path of a file of them, which is played once. A player that `goes_first` has priority over the recorder and
    all other processes of the board, and waits for the host at most 4 s instead of half a second.
    """

    def __init__(self, pcm, rate, layout, channels, data, rounds=1, goes_first=False):
        self.is_ours = isinstance(data, bytes)
        path = f"/dev/shm/play-{time.monotonic_ns()}.raw" if self.is_ours else data
        if self.is_ours:
            with open(path, "wb") as file:
                for _ in range(rounds):
                    file.write(data)
        buffer = 4_000_000 if goes_first else 500_000
        options = f"-q -D {pcm} -t raw -f {layout} -r {rate} -c {channels} --buffer-time={buffer} --period-time=100000"
        self.rate = rate
        self.log = f"/dev/shm/play-{time.monotonic_ns()}.log"
        self.process = subprocess.Popen(
            ["aplay", *options.split(), path], stderr=open(self.log, "w"),
            preexec_fn=(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))) if goes_first else None)
        self.path = path
        card, device, subdevice = pcm.removeprefix("hw:").split(",")
        self.status_path = f"/proc/asound/{card}/pcm{device}p/sub{subdevice}/status"
        deadline = time.monotonic() + 10
        while "hw_ptr" not in self.status() or self.status()["state"] != "RUNNING":
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError(f"aplay does not play into {pcm}: {self.status()}")
            time.sleep(0.02)

    def status(self):
        """Returns ALSA's status of the playing end."""
        with open(self.status_path) as file:
            lines = [line.split(":", 1) for line in file.read().splitlines()]
        return {line[0].strip(): line[1].strip() for line in lines if len(line) == 2} | {
            "state": lines[0][-1].strip()}

    def errors(self):
        """Returns aplay's messages."""
        with open(self.log) as log:
            return log.read()

    def underruns(self):
        """Returns the number of underruns. The card played silence in them, which a recorder cannot detect."""
        return self.errors().count("underrun")

    def clock(self, seconds):
        """Returns the frames played at CLOCK_MONOTONIC 0, extrapolated: frame = clock + rate × instant.

        The card moves once a millisecond, so the latest of many readings is the most accurate.
        """
        best, end = -math.inf, time.monotonic() + seconds
        while time.monotonic() < end:
            position = int(self.status()["hw_ptr"])
            best = max(best, position - self.rate * time.monotonic())
            time.sleep(0.0037)
        return best

    def stop(self):
        """Ends playback."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        print(self.errors(), end="", flush=True)
        if self.is_ours:
            os.unlink(self.path)


class Listener:
    """Captures the other end of a PCM with arecord, until it is stopped."""

    def __init__(self, pcm, rate, layout, channels):
        self.path = f"/dev/shm/captured-{time.monotonic_ns()}.raw"
        options = f"-q -D {pcm} -t raw -f {layout} -r {rate} -c {channels} --buffer-time=500000 --period-time=50000"
        self.rate, self.layout, self.channels = rate, layout, channels
        self.process = subprocess.Popen(["arecord", *options.split(), self.path])
        card, device, subdevice = pcm.removeprefix("hw:").split(",")
        self.status_path = f"/proc/asound/{card}/pcm{device}c/sub{subdevice}/status"
        deadline = time.monotonic() + 10
        while "RUNNING" not in open(self.status_path).read():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError(f"arecord does not capture from {pcm}")
            time.sleep(0.02)

    def clock(self, seconds):
        """Returns the frames captured at CLOCK_MONOTONIC 0, extrapolated: frame = clock + rate × instant."""
        best, end = -math.inf, time.monotonic() + seconds
        while time.monotonic() < end:
            with open(self.status_path) as file:
                position = int(next(line for line in file if line.startswith("hw_ptr")).split(":")[1])
            best = max(best, position - self.rate * time.monotonic())
            time.sleep(0.0037)
        return best

    def stop(self):
        """Ends capturing and returns the captured bytes."""
        time.sleep(0.2)
        self.process.terminate()
        self.process.wait()
        with open(self.path, "rb") as file:
            captured = file.read()
        os.unlink(self.path)
        return captured

    def samples(self):
        """Ends capturing and returns the 32-bit samples of each channel."""
        samples = unpack(self.stop(), self.layout)
        return [samples[number :: self.channels] for number in range(self.channels)]


class Wave:
    """A WAV file: its chunks, its format under ALSA's name, its samples."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.path = path
        self.size = len(data)
        self.riff_size = struct.unpack_from("<I", data, 4)[0] + 8
        if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
            raise ValueError(f"{path}: not a WAV file")
        self.chunks, position = {}, 12
        while position + 8 <= len(data):
            name, size = data[position : position + 4].decode("latin-1"), struct.unpack_from("<I", data, position + 4)[0]
            self.chunks[name] = memoryview(data)[position + 8 : position + 8 + size]
            position += 8 + size + size % 2
        tag, self.channels, self.rate, _, self.block, bits = struct.unpack_from("<HHIIHH", self.chunks["fmt "])
        if tag == 0xFFFE:
            tag = struct.unpack_from("<H", self.chunks["fmt "], 24)[0]
        self.layout = {(1, 16): "S16_LE", (1, 24): "S24_3LE", (1, 32): "S32_LE", (3, 32): "FLOAT_LE"}[tag, bits]
        self.frames = len(self.chunks["data"]) // self.block

    def bytes(self, first, count):
        return bytes(self.chunks["data"][first * self.block : (first + count) * self.block])

    def origin(self):
        """Returns the fields of the bext chunk (EBU Tech 3285)."""
        chunk = bytes(self.chunks["bext"])
        names = ("description", "originator", "reference", "date", "time", "time_reference", "version")
        fields = [
            value.split(b"\0")[0].decode() if isinstance(value, bytes) else value
            for value in struct.unpack_from("<256s32s32s10s8sQH", chunk)]
        return dict(zip(names, fields), coding_history=chunk[602:].rstrip(b"\0").decode())

    def cues(self):
        """Returns the cue points, (frame, label) each."""
        points = bytes(self.chunks.get("cue ", bytes(4)))
        count, = struct.unpack_from("<I", points)
        found = [struct.unpack_from("<II4sIII", points, 4 + 24 * i) for i in range(count)]
        labels, chunk, position = {}, bytes(self.chunks.get("LIST", b"adtl")), 4
        while chunk[:4] == b"adtl" and position + 8 <= len(chunk):
            name, size = struct.unpack_from("<4sI", chunk, position)
            if name == b"labl":
                number, = struct.unpack_from("<I", chunk, position + 8)
                labels[number] = chunk[position + 12 : position + 8 + size].rstrip(b"\0").decode()
            position += 8 + size + size % 2
        return [(frame, labels.get(number)) for number, _, name, _, _, frame in found if name == b"data"]

    def channel(self, number, first=0, count=None):
        """Returns samples of one channel."""
        count = self.frames - first if count is None else count
        return unpack(self.bytes(first, count), self.layout)[number :: self.channels]


@functools.lru_cache(8)
def _circle(rate, frequency, function):
    once = [function(2 * math.pi * i / rate) for i in range(rate)]
    return [once[i * frequency % rate] for i in range(rate)]


class Tone:
    """A sine of whole hertz, fitted to the first second of samples by least squares."""

    def __init__(self, samples, rate, frequency):
        block = samples[:rate]
        a = 2 / rate * sum(map(operator.mul, block, _circle(rate, frequency, math.cos))) / FULL_SCALE
        b = 2 / rate * sum(map(operator.mul, block, _circle(rate, frequency, math.sin))) / FULL_SCALE
        self.peak = math.hypot(a, b)
        self.phase = math.atan2(-b, a)
        power = sum(map(operator.mul, block, block)) / rate / FULL_SCALE**2
        self.residual = math.sqrt(max(power - self.peak**2 / 2, 0))

    @property
    def peak_dbfs(self):
        """Its peak in dB relative to full scale."""
        return decibel(self.peak)

    @property
    def clean_db(self):
        """The level of the sine above everything else in the samples, RMS against RMS, in dB."""
        return decibel(self.peak / math.sqrt(2) / max(self.residual, 1e-9))


def decibel(ratio):
    """A ratio of amplitudes in dB."""
    return 20 * math.log10(max(ratio, 1e-12))


def frequency_of(samples, rate, nominal):
    """Returns the frequency of a sine near `nominal`, from its phase in the first and the last whole second."""
    seconds = len(samples) // rate - 1
    first, last = Tone(samples[:rate], rate, nominal), Tone(samples[seconds * rate :], rate, nominal)
    turn = (last.phase - first.phase + math.pi) % (2 * math.pi) - math.pi
    return nominal + turn / (2 * math.pi * seconds)


def crossing_frequency(samples, rate):
    """Returns the frequency of a tone whose phase may jump, from its upward zero crossings."""
    places = [i - a / (b - a) for i, (a, b) in enumerate(zip(samples, samples[1:])) if a < 0 <= b]
    return (len(places) - 1) * rate / (places[-1] - places[0]) if len(places) > 1 else 0.0


def butterworth_db(frequency, cutoff, rate, order):
    """Returns the response of a digital Butterworth low-pass (bilinear, prewarped) at a frequency, in dB."""
    ratio = math.tan(math.pi * frequency / rate) / math.tan(math.pi * cutoff / rate)
    return -10 * math.log10(1 + ratio ** (2 * order))
