import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load, tracingContext } from './browser.js';

const { LiveWave, shownSeconds } = await load('deck-parts.js');

/** A waveform on a canvas of 120 pixels, two for each second, and the drawn bars of its last picture. */
function drawn() {
  const { context, calls } = tracingContext('fillRect', 'clearRect');
  const element = { clientWidth: 120, clientHeight: 100, append() {}, setAttribute() {}, getContext: () => context };
  let frame = null;
  define({
    document: { hidden: false, createElement: () => element }, matchMedia: () => ({ matches: false }),
    requestAnimationFrame: (draw) => { frame = draw; }, getComputedStyle: () => ({ getPropertyValue: () => 'blue' }),
  });
  const bars = () => {
    frame();
    const last = calls.findLastIndex(([name]) => name === 'clearRect');
    return new Map(calls.slice(last + 1).map(([, , x, , , height]) => [x, height]));
  };
  return { wave: new LiveWave('wave'), bars };
}

/** Pixels of one channel, as the kit sends them ten times a second. */
function send(wave, from, to, { rate = 48000, value = () => 1 } = {}) {
  for (let first = from; first < to; first += 19) {
    const data = [];
    for (let pixel = first; pixel < Math.min(to, first + 19); pixel += 1) data.push(-value(pixel), value(pixel));
    wave.add({ channels: 1, rate_hz: rate, frames_per_pixel: 256, first_pixel: first, data });
  }
}

test('a minute is shown, and a peak of one pixel is seen at any rate', () => {
  assert.equal(shownSeconds, 60);
  for (const rate of [8000, 48000, 384_000]) {
    const { wave, bars } = drawn();
    const second = rate / 256;
    const peak = Math.floor(60 * second);
    send(wave, 0, Math.floor(90 * second), { rate, value: (pixel) => (pixel === peak ? 100 : 1) });
    const high = [...bars()].filter(([, height]) => height > 50).map(([x]) => x);
    // 30 s ago.
    assert.ok(high.length > 0 && high.every((x) => Math.abs(x - 60) <= 1), `${rate} Hz: ${high}`);
    assert.equal(bars().size, 120);
  }
});

test('what is missing is a gap, and a card that was opened again begins anew', () => {
  const { wave, bars } = drawn();
  send(wave, 0, 1875, { value: () => 60 });
  send(wave, 3750, 5625, { value: () => 60 });
  const flat = [...bars()].filter(([, height]) => height < 10).map(([x]) => x);
  assert.ok(Math.abs(flat.length - 20) <= 2 && flat.every((x) => x >= 79 && x <= 101), `${flat}`);
  send(wave, 0, 375);
  assert.ok(bars().size <= 5, `${bars().size}`);
});
