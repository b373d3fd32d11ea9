import assert from 'node:assert/strict';
import test from 'node:test';
import { load, tracingContext } from './browser.js';

const { drawAxis, drawPlaces, drawRanges, drawRegions, xOf } = await load('marks.js');
const { FrequencyScale } = await load('spectrum-paint.js');
const { View } = await load('waveform.js');

const box = { x: 100, y: 0, width: 700, height: 80, scale: 1, text: 10 };
const colours = { text: 'text', gap: 'gap', loss: 'loss', marker: 'marker', filter: 'filter' };

/** The range of a take. */
function seen(from, to, frames = to) {
  const view = new View(frames);
  view.show(from, to);
  return view;
}

/** The labels of the time axis, and where their ticks are. */
function axis(view, rate) {
  const { context, calls } = tracingContext('fillText', 'fillRect');
  drawAxis(context, box, view, rate, colours);
  return {
    labels: calls.filter(([name]) => name === 'fillText').map(([, , text]) => text),
    ticks: calls.filter(([name]) => name === 'fillRect').map(([, , x]) => x),
  };
}

test('a frame lies where its share of the view is', () => {
  const view = seen(1000, 2000, 5000);
  assert.deepEqual([1000, 1500, 2000, 900].map((frame) => xOf(frame, box, view)), [100, 450, 800, 30]);
});

test('the time axis has steps that a person counts in', () => {
  const rate = 48_000;
  assert.deepEqual(axis(seen(0, 10 * rate), rate), {
    labels: ['0:00', '0:01', '0:02', '0:03', '0:04', '0:05', '0:06', '0:07', '0:08', '0:09', '0:10'],
    ticks: [100, 170, 240, 310, 380, 450, 520, 590, 660, 730, 800],
  });
  assert.deepEqual(axis(seen(0, 100 * rate), rate).labels.slice(0, 3), ['0:00', '0:10', '0:20']);
  assert.deepEqual(axis(seen(0, 3 * 86_400 * rate), rate).labels.slice(1, 3), ['12:00:00', '24:00:00']);
  assert.deepEqual(axis(seen(0, 3_000_000 * rate), rate).labels.slice(1, 3), ['96:00:00', '192:00:00']);
});

test('the time axis has as many decimals as its steps, and begins in the view', () => {
  const rate = 48_000;
  assert.deepEqual(axis(seen(0.0495 * rate, 0.0995 * rate, 10 * rate), rate).labels.slice(0, 3), ['0:00.050', '0:00.055', '0:00.060']);
  assert.deepEqual(axis(seen(2 * rate, 4 * rate, 10 * rate), rate).labels.slice(0, 3), ['0:02.0', '0:02.2', '0:02.4']);
});

/** The ranges and places of a sidecar, as they are drawn. */
function drawn(draw, ...methods) {
  const { context, calls } = tracingContext(...methods);
  draw(context);
  return calls;
}

test('gaps and suspected losses are drawn as far as they are seen', () => {
  const view = seen(1000, 2000, 5000);
  const sidecar = {
    gaps: [
      { at_frame: 500, frames: 400 }, { at_frame: 900, frames: 300 }, { at_frame: 1500, frames: 99, until_frame: 1700 }, { at_frame: 2001, frames: 1 },
    ],
    suspected_losses: [{ after_frame: 1900, before_frame: 3000 }],
  };
  const outlines = drawn((context) => drawRanges(context, box, view, sidecar, colours), 'rect').filter((_, index) => index % 2 === 0);
  assert.deepEqual(outlines.map(([, , x, y, width, height]) => [x, y, width, height]), [[100, 0, 140, 80], [450, 0, 140, 80], [730, 0, 70, 80]]);
  assert.deepEqual(drawn((context) => drawRanges(context, box, view, { gaps: [] }, colours), 'rect'), []);
});

test('a gap of one frame is seen', () => {
  const [[, , , , width]] = drawn((context) => drawRanges(context, box, seen(0, 100_000), { gaps: [{ at_frame: 50_000, frames: 1 }] }, colours), 'rect');
  assert.equal(width, 2);
});

test('markers, regions and changes of the filter are drawn where they are seen; the filter at the start is no change', () => {
  const view = seen(1000, 2000, 5000);
  const sidecar = { filter: [{ at_frame: 1200 }, { at_frame: 1100 }, { at_frame: 4000 }] };
  const places = [{ at_frame: 500 }, { at_frame: 900, end_frame: 1700 }, { at_frame: 1500 }];
  const calls = drawn((context) => drawPlaces(context, box, view, sidecar, places, colours), 'fillRect', 'fillText');
  assert.deepEqual(calls.filter(([name]) => name === 'fillText'), [['fillText', 'filter', 'ƒ', 173, 80]]);
  assert.deepEqual(calls.filter(([, colour]) => colour === 'marker'), [
    ['fillRect', 'marker', 100, 0, 490, 3], ['fillRect', 'marker', 100, 0, 1.5, 80], ['fillRect', 'marker', 588.5, 0, 1.5, 80],
    ['fillRect', 'marker', 100, 0, 490, 80], ['fillRect', 'marker', 450, 0, 1.5, 80],
  ]);
});

/** The boxes and labels of regions in a spectrogram of 0 to 8 kHz. */
function regions(places, scale = new FrequencyScale(0, 8000, false)) {
  const calls = drawn((context) => drawRegions(context, box, seen(1000, 2000, 5000), places, scale, colours), 'strokeRect', 'fillText');
  return {
    boxes: calls.filter(([name]) => name === 'strokeRect').filter((_, index) => index % 2).map(([, , ...place]) => place),
    labels: calls.filter(([name]) => name === 'fillText').map(([, , text, x, y]) => [text, x, y]),
  };
}

test('a region is a box of its time and its band, with its label; without a band it has all frequencies', () => {
  const { boxes, labels } = regions([
    { at_frame: 1100, end_frame: 1200, low_hz: 2000, high_hz: 4000, note: null, label: 'Turdus merula' }, { at_frame: 1300, note: 'no region' },
    { at_frame: 1500, end_frame: 1600, note: 'wren', label: 'bird' },
  ]);
  assert.deepEqual(boxes, [[170, 40, 70, 20], [450, 0, 70, 80]]);
  assert.deepEqual(labels, [['Turdus merula', 173, 42], ['wren', 453, 2]]);
});

test('a region that is short, or partly in view, is seen, and one that is not in view is not', () => {
  const { boxes, labels } = regions([
    { at_frame: 800, end_frame: 1100, note: 'begins before' }, { at_frame: 1200, end_frame: 1201, low_hz: 100, high_hz: 101 }, { at_frame: 2100, end_frame: 2200 },
    { at_frame: 1400, end_frame: 1500, low_hz: 9000, high_hz: 9500 },
  ]);
  assert.deepEqual(boxes.map(([, , ...size]) => size), [[210, 80], [2, 2]]);
  assert.deepEqual(labels, [['begins before', 103, 2]]);
});
