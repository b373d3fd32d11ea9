"""A memory card as a file, and a machine that qemu emulates around it, for `run`."""
import base64
import hashlib
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import threading
import time

BUTTONS = {"record": 0, "stop": 1, "play": 2, "back": 4, "forward": 5}
# By the kit's clock. An emulated start needs 60.
BOOT_SECONDS = 300
# QEMU's Pi: its watchdog resets the machine as soon as it is started. Its USB network forwards nothing, so a root shell at the serial port
# replaces SSH.
PI_ARGUMENTS = " systemd.watchdog_sec=0 systemd.debug_shell=ttyS1 systemd.mask=serial-getty@ttyS1.service"


def partitions(image):
    """Returns the start and the size of each partition, in bytes."""
    table = json.loads(subprocess.run(["sfdisk", "--json", image], check=True, capture_output=True).stdout)
    return [(entry["start"] * 512, entry["size"] * 512) for entry in table["partitiontable"]["partitions"]]


class Card:
    """A memory card with the image, as a file."""

    def __init__(self, folder, image, name="card"):
        self.path = folder / f"{name}.img"
        # The takes that the kit reported as being on the card, with the seconds of each.
        self.promised = {}
        subprocess.run(["cp", "--sparse=always", image, self.path], check=True)
        os.truncate(self.path, 4 << 30)
        self.partitions = partitions(self.path)

    def _fat(self):
        return f"{self.path}@@{self.partitions[0][0]}"

    def drop(self, name, text):
        subprocess.run(["mcopy", "-o", "-i", self._fat(), "-", f"::{name}"], input=text.encode(), check=True)

    def drop_update(self, bundle):
        """Writes a bundle there, in place of the former one."""
        for name in self.names():
            if name.endswith(".update"):
                subprocess.run(["mdel", "-i", self._fat(), f"::{name}"], check=True)
        subprocess.run(["mcopy", "-i", self._fat(), bundle, "::"], check=True)

    def look(self, name):
        done = subprocess.run(["mtype", "-i", self._fat(), f"::{name}"], capture_output=True)
        return done.stdout.decode() if done.returncode == 0 else None

    def names(self):
        listing = subprocess.run(["mdir", "-b", "-i", self._fat(), "::"], check=True, capture_output=True, text=True).stdout
        return {line.removeprefix("::/") for line in listing.split()}

    def holds(self, partition, text):
        """Whether a partition contains the bytes anywhere, in a file or not."""
        start, size = self.partitions[partition]
        with open(self.path, "rb") as file:
            file.seek(start)
            return text in file.read(size)

    def lose_data(self):
        """Removes the data partition from the table."""
        subprocess.run(["sfdisk", "--quiet", "--delete", self.path, "3"], check=True)

    def root_digest(self):
        start, size = self.partitions[1]
        with open(self.path, "rb") as file:
            file.seek(start)
            return hashlib.sha256(file.read(size)).hexdigest()


class Shell:
    """A root shell at a serial port, to which the kernel may write as well."""

    def __init__(self, place):
        self.place, self.count, self.answers = place, 0, False
        self.said, self.came = b"", threading.Condition()
        # QEMU stands still while nobody reads the port's output.
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        try:
            while part := self.place.recv(65536):
                with self.came:
                    self.said += part
                    self.came.notify()
        except OSError:
            pass

    def _ask(self, command, seconds):
        self.count += 1
        # The echo of this line has no digits in their place.
        line = f'sh -c {shlex.quote(command)} </dev/null >/run/said 2>/dev/null; echo "@{self.count}:$?:$(base64 -w0 /run/said)@"\r'
        answer = re.compile(rb"@%d:(\d+):([A-Za-z0-9+/=]*)@" % self.count)
        with self.came:
            self.said = b""
        try:
            self.place.sendall(line.encode())
        except OSError:
            return None
        with self.came:
            if self.came.wait_for(lambda: answer.search(self.said), seconds):
                status, text = answer.search(self.said).groups()
                return int(status), base64.b64decode(text).decode(errors="replace")
        return None

    def run(self, command):
        """Returns the result like subprocess; 255 until the shell answers."""
        if not self.answers:
            self.answers = self._ask("dmesg -n 1", 10) is not None
        done = self._ask(command, 600) if self.answers else None
        return subprocess.CompletedProcess(command, *(done or (255, "")), "")


class Machine:
    """An emulated kit, from power on to pull(). With `is_patient` its clock counts executed instructions, 2 ns each, and is never faster
    than real time, so nothing in the kit is late on a busy machine. That takes longer, because one thread emulates all processors."""

    on = set()

    def __init__(self, folder, card, key, boot, board="virt", is_patient=False, at=None, log=None):
        self.folder, self.key = folder, key
        self.port, self.page_port = self._free_port(), self._free_port()
        self.control = folder / f"ssh-{self.port}"
        self.master = None
        self.began = time.monotonic()
        self.console = open(folder / "console.log", "ab")
        for name in ("qtest", "qmp", "serial"):
            (folder / name).unlink(missing_ok=True)
        arguments = (boot / "cmdline.txt").read_text().strip().replace("quiet", "")
        patience = ["-icount", "shift=1,sleep=on"] if is_patient else []
        base = f"{at:%Y-%m-%dT%H:%M:%S}" if at else "utc"
        common = [*patience, "-rtc", f"base={base},clock=vm", "-kernel", boot / "vmlinuz", "-initrd", boot / "initrd.img",
                  "-display", "none", "-monitor", "none",
                  "-qtest", f"unix:{folder}/qtest,server=on,wait=off", "-qtest-log", "none", "-qmp", f"unix:{folder}/qmp,server=on,wait=off"]
        disk = folder / "disk.img"
        disk.touch()
        os.truncate(disk, 64 << 20)
        storage = f"file={card.path},format=raw,cache=writethrough,if="
        disk_of_kit = ["-drive", storage + "virtio"]
        if log:
            # In the format of the kernel's dm-log-writes. With a volatile cache, like that of memory cards.
            layers = {"driver": "blklogwrites", "node-name": "card", "log-sector-size": 512,
                      "file": {"driver": "raw", "file": {"driver": "file", "filename": str(card.path)}},
                      "log": {"driver": "raw", "file": {"driver": "file", "filename": str(log)}}}
            disk_of_kit = ["-blockdev", json.dumps(layers), "-device", "virtio-blk-pci,drive=card,write-cache=on"]
        machine = {
            "virt": ["-M", "virt", "-cpu", "cortex-a53", "-smp", "2", "-m", "1024", "-serial", "stdio",
                     "-append", re.sub(r"console=\S+ console=tty0", "console=ttyAMA0", arguments),
                     *disk_of_kit, "-device", "virtio-net-pci,netdev=n,romfile=", "-netdev",
                     f"user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:22,hostfwd=tcp:127.0.0.1:{self.page_port}-:80",
                     "-audiodev", "none,id=a", "-device", "intel-hda", "-device", "hda-duplex,audiodev=a",
                     "-drive", f"file={disk},format=raw,if=none,id=d", "-device", "nvme,drive=d,serial=heron07"],
            "raspi3b": ["-M", "raspi3b", "-dtb", boot / "bcm2837-rpi-3-b.dtb", "-serial", "null",
                        "-chardev", f"socket,id=c,path={folder}/serial,server=on,wait=off,logfile={folder}/console.log,logappend=on",
                        "-serial", "chardev:c", "-append", arguments + PI_ARGUMENTS, "-drive", storage + "sd", "-nic", "none"],
        }[board]
        self.process = subprocess.Popen(
            ["qemu-system-aarch64", *machine, *common], stdin=subprocess.DEVNULL, stdout=self.console, stderr=self.console)
        self.on.add(self)
        while not ((folder / "qtest").exists() and (folder / "qmp").exists()):
            if self.process.poll() is not None:
                sys.exit(f"Tests/Image/run: qemu does not start: see {folder}/console.log")
            time.sleep(0.1)
        self.qtest, self.asking = self._connected(folder / "qtest"), threading.Lock()
        self.shell = Shell(self._connected(folder / "serial")) if board == "raspi3b" else None
        # The PL031's seconds, and the BCM2835 system timer's microseconds: hardware that counts by the kit's clock.
        self.counter, self.counter_hz = {"virt": (0x9010000, 1), "raspi3b": (0x3F003004, 1_000_000)}[board]
        self.counted = 0
        self.count = self._read(self.counter)
        if board == "virt":
            self.pressed = set()
            self._set_lines()
            threading.Thread(target=self._keep_lines, args=(self._connected(folder / "qmp"),), daemon=True).start()

    @staticmethod
    def _connected(path):
        place = socket.socket(socket.AF_UNIX)
        place.connect(str(path))
        return place

    @staticmethod
    def _free_port():
        with socket.socket() as place:
            place.bind(("127.0.0.1", 0))
            return place.getsockname()[1]

    def _ask(self, line):
        with self.asking:
            self.qtest.sendall(f"{line}\n".encode())
            return self.qtest.recv(4096).decode().split()

    def _read(self, register):
        return int(self._ask(f"readl {register:#x}")[1], 16)

    def _set_lines(self):
        """Sets each line to the level of its button."""
        for line in range(8):
            self._ask(f"set_irq_in /machine/unattached/device[7] unnamed-gpio-in {line} {int(line not in self.pressed)}")

    def _keep_lines(self, place):
        """Sets the lines again when the machine was reset: a button's wire keeps its level then, but qemu's input does not."""
        with place, place.makefile("rw") as protocol:
            protocol.write('{"execute": "qmp_capabilities"}\n')
            protocol.flush()
            try:
                for event in protocol:
                    if json.loads(event).get("event") == "RESET":
                        self._set_lines()
            except OSError:
                # It was switched off.
                pass

    def read(self, register):
        """Returns a word of the machine's memory; 0 once it is off."""
        try:
            return self._read(register)
        except (OSError, IndexError, ValueError):
            return 0

    def is_on(self):
        return self.process.poll() is None

    def leave(self):
        self._disconnect()

    def last_clock(self):
        """Returns the last result of `clock`."""
        return self.counted / self.counter_hz

    def clock(self):
        """Returns the seconds since power on, by the kit's clock. The 32-bit counter must be read at least once an hour."""
        count = self.read(self.counter) or self.count
        self.counted += (count - self.count) % (1 << 32)
        self.count = count
        return self.counted / self.counter_hz

    def press(self, *buttons, seconds=0.3):
        lines = {BUTTONS[button] for button in buttons}
        self.pressed |= lines
        self._set_lines()
        self.sleep(seconds)
        self.pressed -= lines
        self._set_lines()

    # MARK: - Queries in the kit

    def _ssh(self):
        return ["ssh", "-q", "-i", self.key, "-p", str(self.port), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                "-o", "ConnectTimeout=120", "-o", "BatchMode=yes", "-o", f"ControlPath={self.control}", "technician@127.0.0.1"]

    def _answers(self):
        """Whether the kit's SSH answers. A connection that is opened before the kit has its address would wait for a minute."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 20) as place:
                place.settimeout(20)
                return place.recv(4) == b"SSH-"
        except OSError:
            return False

    def _connect(self):
        """Opens one connection for all commands: an emulated machine needs seconds for each."""
        if self.master and self.master.poll() is None and self.control.exists():
            return True
        self._disconnect()
        if not self._answers():
            return False
        self.master = subprocess.Popen(
            [*self._ssh()[:-1], "-M", "-N", "-o", "ServerAliveInterval=60", "technician@127.0.0.1"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.control.exists() and self.master.poll() is None:
            time.sleep(0.05)
        return self.master.poll() is None

    def _disconnect(self):
        if self.master:
            self.master.kill()
            self.master.wait()
            self.master = None
        self.control.unlink(missing_ok=True)

    def run(self, command, stdin=subprocess.DEVNULL):
        if self.shell:
            return self.shell.run(command)
        if not self._connect():
            time.sleep(0.5)
            return subprocess.CompletedProcess(command, 255, "", "")
        return subprocess.run([*self._ssh(), command], stdin=stdin, capture_output=True, text=True)

    def say(self, command):
        return self.run(command).stdout.strip()

    def sleep(self, seconds):
        """Sleeps by the kit's clock, which is slow when this machine is busy."""
        self.run(f"sleep {seconds}")

    def as_root(self, command):
        return self.say(f"sudo sh -c {shlex.quote(command)}")

    def until(self, command, seconds=BOOT_SECONDS):
        """Waits until a command succeeds in the kit, which retries it several times a second."""
        return self.run(f"sudo timeout {seconds} sh -c {shlex.quote(f'until {command}; do sleep 0.3; done')}").returncode == 0

    def status(self):
        try:
            return json.loads(self.say("sudo fieldfare status --json"))
        except ValueError:
            return {}

    def takes(self):
        try:
            return json.loads(self.say("sudo fieldfare takes --json")).get("takes", [])
        except ValueError:
            return []

    def wait(self, condition, what, seconds=BOOT_SECONDS):
        end = self.clock() + seconds
        while self.clock() < end:
            if self.process.poll() is not None:
                sys.exit(f"Tests/Image/run: the machine ended while waiting for {what}: see {self.folder}/console.log")
            if condition():
                return True
            time.sleep(0.5)
        return False

    def is_armed(self):
        return self.wait(lambda: self.status().get("armed") is True, "the armed recorder")

    def is_recording(self):
        return self.wait(lambda: self.status().get("state") == "recording", "the take")

    def seconds(self):
        """The seconds since power on."""
        return time.monotonic() - self.began

    def run_until(self, seconds):
        """Waits until `seconds` after power on, by the kit's clock."""
        while self.clock() < int(seconds):
            time.sleep(0.1)
        time.sleep(seconds % 1)

    def pull(self):
        self.on.discard(self)
        self.process.kill()
        self.process.wait()
        self._disconnect()
        self.qtest.close()
        self.console.close()
