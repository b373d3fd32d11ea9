"""The acceptance of a new kit: a running `fieldfare doctor --acceptance`, persons who answer it, and disks with false properties."""
import array
import hashlib
import os
import pathlib
import subprocess
import threading
import time

import kit
from carddisk import free_bytes, sh
from kit import BINARIES, PLAYBACK, SOCKET, expect, say, settings
from panel import lamp, press
from sound import Player, interleave, pack, sines

RATE, MIB = 48000, 1 << 20
BUTTONS = ("record", "stop", "play", "back", "forward")
LAMPS = ("record", "play", "upload", "fault")
REPORT = pathlib.Path("/data/report.txt")
kit.TAKES = pathlib.Path("/mnt/takes")


def without_panel():
    """Settings of a kit whose panel is missing, so that the acceptance skips it."""
    return settings(
        takes={"directory": "/mnt/takes", "reserve_mib": 16},
        panel_buttons={name: {"line": f"NO_{name.upper()}"} for name in BUTTONS},
        panel_leds={name: {"line": f"NO_LED_{name.upper()}"} for name in LAMPS})


class Disk:
    """A disk of `mib` under the device mapper, with a file system whose metadata is all at its beginning.

    An ext4 can have the contents of a folder. They follow the metadata; the kernel would spread folders over the disk.
    """

    def __init__(self, name, mib, kind="ext4", contents=None):
        self.name, self.sectors = name, mib * 2048
        image = f"/dev/shm/{name}.img"
        sh(f"truncate -s {mib}M {image}")
        options = "-q -b 4096 -m 0 -O sparse_super2 -E packed_meta_blocks=1,num_backup_sb=0,lazy_itable_init=0,lazy_journal_init=0"
        options += f" -d {contents}" if contents else ""
        sh(f"mkfs.ext4 {options} {image} 2>/dev/null" if kind == "ext4" else f"mkfs.{kind} {image} >/dev/null")
        self.kind = kind
        self.loop = sh(f"losetup --show -f {image}")
        self.good = f"0 {self.sectors} linear {self.loop} 0"
        sh(f"echo '{self.good}' | dmsetup create --noudevsync {name}")
        self.device = "/dev/dm-" + sh(f"dmsetup info -c --noheadings -o minor {name}")

    def table(self, lines):
        sh(f"dmsetup suspend --noudevsync --nolockfs --noflush {self.name} && printf '%s\\n' '{lines}' | "
           f"dmsetup load --noudevsync {self.name} && dmsetup resume --noudevsync {self.name}")

    def repeat_after(self, sectors):
        """Gives the disk only this many sectors: the higher bits of an address are ignored."""
        parts = range(0, self.sectors, sectors)
        self.table("\n".join(f"{at} {min(sectors, self.sectors - at)} linear {self.loop} 0" for at in parts))

    def swallow_from(self, sector):
        """Discards every write above a sector, without an error."""
        self.table(f"0 {sector} linear {self.loop} 0\n"
                   f"{sector} {self.sectors - sector} flakey {self.loop} {sector} 0 3600 1 drop_writes")

    def slow_down(self, milliseconds):
        self.table(f"0 {self.sectors} delay {self.loop} 0 0 {self.loop} 0 {milliseconds}")

    def insert(self):
        sh(f"mount -t {self.kind} -o noatime {self.device} /mnt && mkdir -p /mnt/takes")

    def eject(self):
        sh("umount /mnt")

    def remove(self):
        sh(f"dmsetup remove --noudevsync {self.name} && losetup -d {self.loop} && rm /dev/shm/{self.name}.img")


class Walk:
    """A running `fieldfare doctor --acceptance`. Its questions are answered by `person`, which gets the walk and the question."""

    def __init__(self, person, *options):
        REPORT.unlink(missing_ok=True)
        self.person, self.said, self.asked = person, [], []
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [BINARIES / "fieldfare", "--socket", SOCKET, "--settings", "/data/fieldfare.toml", "doctor", "--acceptance",
             "--output", REPORT, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        self.threads = [threading.Thread(target=self.read, args=(self.process.stdout, self.said)),
                        threading.Thread(target=self.read, args=(self.process.stderr, self.asked, True))]
        for thread in self.threads:
            thread.start()

    def read(self, file, lines, are_questions=False):
        for line in file:
            line = line.rstrip("\n")
            lines.append(line)
            say(f"  {'?' if are_questions else '>'} {line}")
            if are_questions:
                self.person(self, line)
            elif " microphone channel " in line:
                sound.hush()

    def type(self, line=""):
        try:
            self.process.stdin.write(line + "\n")
        except (BrokenPipeError, ValueError):
            pass

    def wait_for(self, words, seconds=60):
        found = kit.wait_until(lambda: any(words in line for line in self.asked + self.said), seconds)
        return expect(found, f"it says '{words}'")

    def end(self, seconds=240):
        status = self.process.wait(seconds)
        for thread in self.threads:
            thread.join()
        self.seconds = time.monotonic() - self.began
        return status

    def outcome(self, part, subject):
        """Returns the outcome and the sentence of a check."""
        for line in self.said:
            outcome, _, rest = line.partition(" ")
            if rest.strip().startswith(f"{part} {subject}: "):
                return outcome, rest.strip().split(": ", 1)[1]
        return None, ""

    def expect(self, outcome, part, subject, *words):
        found, sentence = self.outcome(part, subject)
        expect(found == outcome and all(word in sentence for word in words), f"{part} {subject} is {outcome}: {found} {sentence}")
        return sentence


def figures(part, subject):
    """Returns the values of a check in the report, by name."""
    lines = REPORT.read_text().splitlines()
    at = next(index for index, line in enumerate(lines) if f" {part} {subject}: " in line)
    return dict(item.split("=", 1) for item in lines[at + 1].split())


class Sound:
    """The sound of the two microphones: soft noise, on some channels a tap each second, or silence."""

    def __init__(self):
        self.player = None

    def hush(self):
        if self.player:
            self.player.stop()
        self.player = None

    def play(self, taps=(), dead=()):
        self.hush()
        channels = []
        for channel in (1, 2):
            soft, loud = sines(RATE, [(310, 0.001)]), sines(RATE, [(310, 0.3)])
            second = array.array("i", bytes(4 * RATE)) if channel in dead else array.array("i", soft)
            if channel in taps:
                second[RATE // 2 : RATE // 2 + 1500] = array.array("i", loud[:1500])
            channels.append(second)
        self.player = Player(PLAYBACK, RATE, "S16_LE", 2, pack(interleave(channels), "S16_LE"), rounds=600)


sound = Sound()


def willing(walk, question):
    """Does what a person should do."""
    for name in BUTTONS:
        if question.startswith(f"press {name} "):
            threading.Timer(0.4, press, (name,)).start()
    for name in LAMPS:
        if question.startswith(f"the {name} lamp"):
            lit = kit.wait_until(lambda: [other for other in LAMPS if lamp(other)] == [name], 5)
            expect(lit, f"the {name} lamp is lit, and no other")
            walk.type()
    for channel in (1, 2):
        if question.startswith(f"tap the microphone of channel {channel}"):
            sound.play(taps=(channel,))
    if question.startswith("microphone:"):
        sound.play()
        walk.type()
    if question.startswith("card:"):
        walk.type()


def only_card(walk, question):
    """Skips everything except the card."""
    walk.type("" if question.startswith("card:") or "Enter: skip" in question else "s")


def digests():
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(kit.TAKES.glob("*/*")) if path.is_file()}


def fill_with_takes(count, seconds):
    """Makes earlier takes of noise, each different from the others."""
    for number in range(1, count + 1):
        kit.make_take(number, RATE, "S16_LE", 2, os.urandom(RATE * 4) * seconds)
    sh("sync")


def expect_given_back(what, free):
    found = kit.wait_until(lambda: abs(free_bytes() - free) < MIB, 20)
    left = [name for name in os.listdir("/mnt/takes") if name.startswith(".a")]
    expect(found and not left, f"{what}: the space is given back, and no file is left: {(free - free_bytes()) / MIB:.1f} MiB, {left}")
