"""The card's states after a power cut at any write of a kit's first hour, for `run`: its first start, a take, an update."""
import collections
import hashlib
import os
import pathlib
import shutil
import stat
import subprocess
import sys

from emulated_kit import partitions
from facts import fact

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "Board"))
from writelog import FLUSH, Replay, WriteLog  # noqa: E402

# From this entry on, this many seconds of a take were reported as being on the card.
Promise = collections.namedtuple("Promise", "entry take seconds")


class LoggedLife:
    """A card, its earlier content, the log of all its writes, and the kit's reports meanwhile."""

    def __init__(self, folder, card):
        self.folder, self.card = folder, card
        self.base, self.log = folder / "base.img", folder / "writes.log"
        subprocess.run(["cp", "--sparse=always", card.path, self.base], check=True)
        self.log.touch()
        self.promises = []

    def promise(self, status):
        """Records a status's promise. All entries of the log up to now were written before it."""
        if status.get("take"):
            self.promises.append(Promise(len(WriteLog(self.log).entries), status["take"], status.get("synced_seconds", 0)))


def tree_digest(folder):
    """Returns one digest of all names, owners, modes and contents below a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found = path.lstat()
        digest.update(f"{path.relative_to(folder)} {found.st_mode:o} {found.st_uid} {found.st_gid}\n".encode())
        if stat.S_ISLNK(found.st_mode):
            digest.update(os.readlink(path).encode())
        elif stat.S_ISREG(found.st_mode):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Mounted:
    """A partition of an image, as `with Mounted(image, start, size, *options) as folder`."""

    def __init__(self, image, start, size, *options):
        self.folder = image.parent / "mounted"
        self.options = ",".join([f"loop,offset={start},sizelimit={size}", *options])
        self.image = image

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-o", self.options, self.image, self.folder], check=True)
        return self.folder

    def __exit__(self, *_):
        subprocess.run(["umount", self.folder], check=True)


def repair(image, start, size):
    """Repairs a data partition like the kit's start. Returns whether that succeeds."""
    loop = subprocess.run(["losetup", "--show", "-f", "-o", str(start), "--sizelimit", str(size), image], check=True, capture_output=True, text=True)
    try:
        return subprocess.run(["e2fsck", "-p", loop.stdout.strip()], stdout=subprocess.DEVNULL).returncode < 4
    finally:
        subprocess.run(["losetup", "-d", loop.stdout.strip()], check=True)


def what_starts(image):
    """Returns the digest of the files that a Pi's firmware reads, including the kernel."""
    start, _ = partitions(image)[0]
    listing = subprocess.run(["mdir", "-/", "-b", "-i", f"{image}@@{start}", "::"], check=True, capture_output=True, text=True).stdout
    digest = hashlib.sha256()
    for name in sorted(listing.splitlines()):
        if name.endswith((".img", ".dtb", ".dtbo", ".elf", ".bin", ".dat", "config.txt", "cmdline.txt", "vmlinuz")):
            digest.update(name.encode())
            digest.update(subprocess.run(["mtype", "-i", f"{image}@@{start}", name], check=True, capture_output=True).stdout)
    return digest.hexdigest()


def chosen_slot(data, base, folder):
    """Returns the slot that the initramfs would choose; nothing for the image's own system."""
    script = f'. {here.parent.parent}/deploy/kit/slot; choose_slot "$1" "$2"; echo "$slot"'
    return subprocess.run(["sh", "-c", script, "sh", data / "system", base], check=True, capture_output=True, text=True, cwd=folder).stdout.strip()


def seconds_of(sound):
    """Returns the length of the sound for which a WAV file has bytes."""
    with open(sound, "rb") as file:
        head = file.read(8192)
    at = head.index(b"fmt ") + 8
    return sound.stat().st_size / int.from_bytes(head[at + 8 : at + 12], "little")


class Judge:
    """Finds the errors of a card at a point of its life."""

    def __init__(self, life):
        self.life, self.folder = life, life.folder
        self.before, self.starts = partitions(life.base), what_starts(life.base)
        self.base_digest = self.folder / "base-digest"
        with Mounted(life.base, *self.before[1], "ro") as root:
            shutil.copy(root / "usr/share/fieldfare-kit/base", self.base_digest)
        # The content of complete slots, from the end of the life.
        self.slots = {}
        data = partitions(life.card.path)[2]
        repair(life.card.path, *data)
        with Mounted(life.card.path, *data, "ro") as folder:
            for slot in (folder / "system/slots").iterdir():
                self.slots[slot.name] = tree_digest(slot / "files")

    def wrong(self, image, entry):
        found = []
        table = partitions(image)
        if table[:2] != self.before[:2] or table[2][0] != self.before[2][0]:
            return [f"the partitions are {table}"]
        if what_starts(image) != self.starts:
            found.append("what it starts from has other bytes")
        if not repair(image, *table[2]):
            return [*found, "its data partition is not repaired without asking"]
        with Mounted(image, *table[2]) as data:
            slot = chosen_slot(data, self.base_digest, self.folder)
            if slot and tree_digest(data / "system/slots" / slot / "files") != self.slots.get(slot):
                found.append(f"the slot {slot} is not whole")
            for promise in self.life.promises:
                if promise.entry > entry:
                    continue
                sounds = list((data / "state").glob(f"**/{promise.take}.wav*"))
                length = seconds_of(sounds[0]) if sounds else 0
                if length < promise.seconds:
                    found.append(f"{promise.take} has {length:.1f} s, and {promise.seconds:.1f} were said to be on the card")
        return found


def check_points(bench, card, bundle, count, starts, randomness, check_start):
    """Judges a number of points, and starts a kit with some of the cards."""
    root = card.root_digest()
    life = LoggedLife(bench.folder, card)
    machine = bench.start(card, log=life.log)
    fact(machine.is_armed(), "boots until the recorder is armed")
    armed = len(WriteLog(life.log).entries)
    machine.press("record")
    fact(machine.is_recording(), "a press records")
    for _ in range(10):
        machine.sleep(2)
        life.promise(machine.status())
    machine.press("stop")
    fact(machine.wait(lambda: machine.takes() != [], "the take"), "  until it is stopped")
    life.promise({"take": machine.takes()[0]["take"], "synced_seconds": machine.takes()[0]["duration_seconds"]})
    taken = len(WriteLog(life.log).entries)
    with open(bundle, "rb") as file:
        machine.run(f"sudo sh -c 'cd /boot/firmware && mount -o remount,rw . && cat >{bundle.name}'", file)
    machine.run("sudo mount -o remount,ro /boot/firmware")
    machine.run("sudo systemctl start kit-update@boot-firmware.service")
    fact(machine.wait(lambda: machine.say("sudo cat /data/system/current") != "", "the update", 900), "an update is made, tried, and in force")
    machine.sleep(10)
    machine.pull()

    log = WriteLog(life.log)
    start, size = card.partitions[1]
    below = card.partitions[0][0]
    strangers = [entry for entry in log.entries
                 if entry.length and (entry.place < start + size and entry.place + entry.length > start or 512 <= entry.place < below)]
    flushes = sum(bool(entry.flags & FLUSH) for entry in log.entries)
    fact(not strangers, f"of {len(log.entries)} writes, with {flushes} flushes, none is in the root, or beside the partitions: {strangers[:3]}")
    fact(card.root_digest() == root, "  it is the same to the byte")

    judge = Judge(life)
    drawn = [(randomness.randrange(1, len(log.entries) + 1), randomness.getrandbits(32) if number % 2 else None) for number in range(count)]
    points = sorted(drawn, key=lambda point: point[0])
    started = set(randomness.sample(range(count), min(starts, count)))
    print(f"       armed after {armed} writes, the take ended after {taken}; {count} points, {len(started)} of them are started from", flush=True)
    bad, image = 0, bench.folder / "point.img"
    with open(life.base, "r+b") as safe:
        replay = Replay(log, safe)
        for number, (entry, seed) in enumerate(points):
            replay.advance(entry)
            safe.flush()
            subprocess.run(["cp", "--sparse=always", life.base, image], check=True)
            with open(image, "r+b") as cut:
                replay.finish(cut, seed)
            if number in started:
                subprocess.run(["cp", "--sparse=always", image, card.path], check=True)
            name = f"write {entry}" + ("" if seed is None else f" with a cache that lost some (seed {seed})")
            if wrong := judge.wrong(image, entry):
                bad += 1
                fact(False, f"after {name}: {'; '.join(wrong)}")
            if number in started:
                card.promised = {}
                for promise in life.promises:
                    if promise.entry <= entry:
                        card.promised[promise.take] = promise.seconds
                machine = bench.start(card)
                check_start(machine, card, root, f"a cut after {name}")
                machine.pull()
    fact(bad == 0, f"at {count - bad} of {count} points the card is whole: what it starts from, its data, the slot in force, and what was promised")
