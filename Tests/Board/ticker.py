"""A process that reports the time repeatedly, so that a gap in its reports is caused by the host.

Nothing on the board delays it for long: it has priority over every other process, including the recorder's capture, and shares nothing
with the scenario, whose interpreter may have to wait.
"""
import atexit
import ctypes
import mmap
import os
import signal
import struct
import time

# Only the kernel itself may have a higher priority on the board.
PRIORITY = 95
PR_SET_PDEATHSIG = 1


class Ticker:
    """Calls `tick` every 10 ms in its own process, until it is stopped or its parent ends."""

    def __init__(self, tick, seconds=0.01):
        self.process = os.fork()
        if self.process == 0:
            try:
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
                while True:
                    tick()
                    time.sleep(seconds)
            finally:
                os._exit(1)
        atexit.register(self.stop)

    def stop(self):
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        self.process = None


class HostWaits:
    """The time for which the host suspended the board: the total lateness of a ticker.

    A scenario with a time limit allows for it. Without other work on the host it is about 1 % of the time.
    """

    def __init__(self):
        self._shared = mmap.mmap(-1, 8)
        late, last = 0.0, time.monotonic()

        def tick():
            nonlocal late, last
            now = time.monotonic()
            late, last = late + max(0, now - last - 0.01), now
            struct.pack_into("<d", self._shared, 0, late)
        Ticker(tick)

    def seconds(self):
        """The total so far."""
        return struct.unpack_from("<d", self._shared)[0]
