"""For scenarios that run outside of the board (`# board: host`): boards to run commands on, and a folder for their disks."""
import atexit
import os
import pathlib
import shutil
import subprocess

from kit import failures

HERE = pathlib.Path(__file__).resolve().parent
CPUS = [int(cpu) for cpu in os.environ.get("FIELDFARE_CPUS", "").split(",") if cpu] or sorted(os.sched_getaffinity(0))
BINARIES = os.environ["FIELDFARE_BINARIES"]
# The Debian root in which the kit is installed.
KIT = os.environ["FIELDFARE_KIT"]


class Board:
    """A board that runs one command. Use it with `with`, so that it is off at the end."""

    def __init__(self, *options, cpu=CPUS[-1], command, log):
        self.log = pathlib.Path(log)
        # The board does not inherit the environment.
        line = [HERE / "run-board", "-k", "snd_aloop.pcm_substreams=1", "-m", "1500M", *options, "-p", str(cpu),
                "env", f"PYTHONPATH={HERE}", f"FIELDFARE_BINARIES={BINARIES}", *command]
        with open(log, "w") as file:
            self.process = subprocess.Popen([str(word) for word in line], stdin=subprocess.DEVNULL, stdout=file, stderr=file)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()

    def wait(self):
        """Waits until the board is off. Returns its status, 137 if the power was cut."""
        return self.process.wait()

    def output(self):
        """Returns its output."""
        return self.log.read_text(errors="replace")


class Workplace:
    """A folder for images and logs. It is removed at the end of a scenario that passes."""

    def __init__(self, name):
        self.path = HERE / "build" / name
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        atexit.register(self.leave)

    def leave(self):
        if not failures() and "KEEP" not in os.environ:
            shutil.rmtree(self.path)
        else:
            print(f"what it worked with is in {self.path}")
