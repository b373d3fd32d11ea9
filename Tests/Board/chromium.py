"""Debian's Chromium on the board, driven by Playwright: the browser of a person near the kit."""
import base64
import os
import sys

from kit import expect, say
from servers import PACKAGES

PROGRAM = "/usr/bin/chromium"
IS_INSTALLED = os.path.exists(PROGRAM) and (PACKAGES / "playwright").is_dir()

# A page's players deliver their sound to an audio graph that keeps it in `heard`: pieces of (left, right), without leading silence. The
# graph runs at the rate of Chromium's silent output, so that samples at that rate are not resampled. It runs on the audio thread: a busy
# page gets the pieces later, but all of them. The graph exists before the delayed sound arrives.
KEEP = """(() => {
  const Original = window.Audio;
  const delay = 1.5;
  const context = new AudioContext();
  const module = `registerProcessor('keep', class extends AudioWorkletProcessor {
    pieces = [new Float32Array(4096), new Float32Array(4096)];
    count = 0;

    process([input]) {
      this.pieces.forEach((piece, index) => {
        if (input[index]) piece.set(input[index], this.count);
        else piece.fill(0, this.count, this.count + 128);
      });
      this.count += 128;
      if (this.count === this.pieces[0].length) {
        this.port.postMessage(this.pieces.map((piece) => piece.slice()));
        this.count = 0;
      }
      return true;
    }
  });`;
  const ready = context.audioWorklet.addModule(URL.createObjectURL(new Blob([module], { type: 'text/javascript' })));
  window.heard = [];
  window.Audio = function (...values) {
    const audio = new Original(...values);
    audio.addEventListener('play', async () => {
      if (audio.isKept) return;
      audio.isKept = true;
      context.resume();
      const later = new DelayNode(context, { delayTime: delay, maxDelayTime: delay });
      context.createMediaElementSource(audio).connect(later);
      await ready;
      const keep = new AudioWorkletNode(context, 'keep', { channelCount: 2, channelCountMode: 'explicit' });
      keep.port.onmessage = ({ data }) => {
        if (heard.length || data.some((samples) => samples.some((sample) => sample !== 0))) heard.push(data);
      };
      later.connect(keep).connect(context.destination);
    });
    return audio;
  };
})()"""
# The kept sound as 16-bit stereo, in base 64.
HEARD = """() => heard.map(([left, right]) => {
  const both = new Int16Array(2 * left.length);
  left.forEach((sample, at) => { both[2 * at] = 32768 * sample; both[2 * at + 1] = 32768 * right[at]; });
  return btoa(Array.from(new Uint8Array(both.buffer), (byte) => String.fromCharCode(byte)).join(''));
})"""


class Chromium:
    """A running Chromium, with a phone's window and its storage."""

    def __init__(self):
        sys.path.insert(0, str(PACKAGES))
        from playwright.sync_api import sync_playwright
        os.makedirs("/tmp/home", exist_ok=True)
        self.playwright = sync_playwright().start()
        # The loopback's devices belong to the recorder, so Chromium plays to a null output.
        self.browser = self.playwright.chromium.launch(
            executable_path=PROGRAM, env={"PATH": os.environ["PATH"], "HOME": "/tmp/home", "TMPDIR": "/tmp"},
            args=["--no-sandbox", "--disable-gpu", "--no-zygote", "--disable-audio-output"])
        self.complaints = []
        self.phone = self.context()

    def context(self, **options):
        """A new phone window."""
        context = self.browser.new_context(
            viewport={"width": 360, "height": 740}, locale="en-GB", has_touch=True, accept_downloads=True, **options)
        context.set_default_timeout(30_000)
        # A board has one processor, and shares it with neighbouring boards. The speed of a page is measured elsewhere.
        context.set_default_navigation_timeout(120_000)
        return context

    def close(self):
        self.browser.close()
        self.playwright.stop()

    def open(self, address, keeps_sound=False):
        """Opens a page in a new tab.

        With `keeps_sound`, `played` returns the tab's sound. Such a tab has the phone's storage and no content policy, because the
        script that keeps the sound is not one of the kit's files.
        """
        context = self.phone
        if keeps_sound:
            context = self.context(storage_state=self.phone.storage_state(), bypass_csp=True)
            context.add_init_script(KEEP)
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text) if "Content Security Policy" in message.text else None)
        page.goto(address)
        page.evaluate("window.isSame = true")
        return page


def comes(page, holds, fact, seconds=30, given=None):
    """Waits until a JavaScript expression holds in a page, and expects it. Returns whether it does."""
    from playwright.sync_api import Error
    try:
        page.wait_for_function(holds, arg=given, timeout=1000 * seconds)
        return expect(True, fact)
    except Error as error:
        say(str(error).splitlines()[0])
        return expect(False, f"{fact}: the page shows {page.locator('main').inner_text()[:400]!r}")


def shows(page, text, fact, seconds=30):
    """Waits until a page shows a text, and expects it."""
    return comes(page, "text => document.body.innerText.includes(text)", fact, seconds, text)


def is_same(page):
    """Expects that a page was not reloaded since it was opened."""
    return expect(page.evaluate("window.isSame === true"), "without a reload")


def played(page, frames, seconds=30):
    """Returns the sound that a page's player has played, at least `count` frames of 16-bit stereo; fewer if it stops before."""
    from playwright.sync_api import Error
    try:
        page.wait_for_function("count => heard.reduce((sum, [left]) => sum + left.length, 0) >= count", arg=frames, timeout=1000 * seconds)
    except Error as error:
        say(str(error).splitlines()[0])
    return b"".join(base64.b64decode(piece) for piece in page.evaluate(HEARD))

