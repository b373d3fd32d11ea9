"""Controls a loopback card's clock without a process per step. Processes would take the board longer than the effects under test."""
import fcntl
import os
import pathlib
import struct


class Loopback:
    """The control of a snd-aloop card's pace (SNDRV_CTL_IOCTL_ELEM_WRITE of sound/asound.h)."""

    def __init__(self, card="Loopback"):
        number = pathlib.Path(f"/proc/asound/{card}").readlink().name.removeprefix("card")
        self.control = os.open(f"/dev/snd/controlC{number}", os.O_RDWR)

    def set_ratio(self, ratio):
        """Makes the card run at 100000 / ratio of its pace, from now on."""
        of_pcm = 3
        element = struct.pack("<IiII44sI", 0, of_pcm, 1, 0, b"PCM Rate Shift 100000", 0)
        value = bytearray(element + bytes(8) + struct.pack("<128q", ratio, *[0] * 127) + bytes(128))
        fcntl.ioctl(self.control, 0xC4C85513, value)

    def shift(self, ppm):
        """Makes the card run faster by `ppm`, in steps of 10."""
        self.set_ratio(100000 - round(ppm / 10))
