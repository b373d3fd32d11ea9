"""The names of the files in a folder that any process opens, from inotify."""
import ctypes
import os
import struct

_IN_OPEN = 0x20
_libc = ctypes.CDLL(None, use_errno=True)


class Opens:
    """Watches a folder from now on."""

    def __init__(self, folder):
        self.descriptor = _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0 or _libc.inotify_add_watch(self.descriptor, os.fsencode(folder), _IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), f"inotify: {folder}")

    def names(self):
        """Returns the names that were opened since the last call."""
        names = set()
        while True:
            try:
                events = os.read(self.descriptor, 65536)
            except BlockingIOError:
                return names
            while events:
                length = struct.unpack_from("=12xI", events)[0]
                names.add(events[16:16 + length].rstrip(b"\0").decode())
                events = events[16 + length:]
