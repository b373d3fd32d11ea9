import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load, tracingContext, wav } from './browser.js';

const { Peaks, View, drawSound, drawThumbnail, readPeaks } = await load('waveform.js');

/** A file of peaks: least and greatest of each channel, pixel after pixel. */
function peaksFile(channels, values, { length = values.length / (2 * channels), version = 2, flags = 1 } = {}) {
  const view = new DataView(new ArrayBuffer(24 + values.length));
  view.setInt32(0, version, true);
  view.setUint32(4, flags, true);
  view.setUint32(16, length, true);
  view.setInt32(20, channels, true);
  new Int8Array(view.buffer, 24).set(values);
  return view.buffer;
}

/** Answers requests by `body(path)`, and notes their paths. */
function serve(body) {
  const paths = [];
  define({ fetch: async (path) => { paths.push(path); return { ok: true, arrayBuffer: async () => body(path) }; } });
  return paths;
}

/** Peaks of a take; `loaded()` is a promise of the next time that more can be drawn. */
function peaksOf(frames) {
  let resolve = () => {};
  const peaks = new Peaks('kit 1', frames, () => resolve());
  return { peaks, loaded: () => new Promise((done) => { resolve = done; }) };
}

const range = ({ from, to }) => [from, to];

test('a view lies within the take, and shows 24 frames at least', () => {
  const view = new View(1000);
  assert.deepEqual(range(view), [0, 1000]);
  view.show(-50, 50);
  assert.deepEqual(range(view), [0, 100]);
  view.show(950, 1050);
  assert.deepEqual(range(view), [900, 1000]);
  view.show(-10, 2000);
  assert.deepEqual(range(view), [0, 1000]);
  view.show(500, 500);
  assert.deepEqual(range(view), [488, 512]);
  assert.deepEqual(range(new View(3)), [0, 24]);
});

test('a zoom keeps its anchor where it is in the picture', () => {
  const view = new View(1000);
  view.zoom(0.5, 250);
  assert.deepEqual(range(view), [125, 625]);
  view.zoom(2, 250);
  assert.deepEqual(range(view), [0, 1000]);
  view.zoom(1e-9, 600);
  assert.equal(view.length, 24);
  assert.ok(Math.abs((600 - view.from) / view.length - 0.6) < 1e-9);
});

test('a view is moved up to the ends of the take', () => {
  const view = new View(1000);
  view.show(100, 200);
  view.pan(50);
  assert.deepEqual(range(view), [150, 250]);
  view.pan(-500);
  assert.deepEqual(range(view), [0, 100]);
  view.pan(5000);
  assert.deepEqual(range(view), [900, 1000]);
});

test('a view follows a frame that is not seen, which then stands at a tenth', () => {
  const view = new View(1000);
  view.show(100, 200);
  assert.equal(view.follow(199), false);
  assert.deepEqual(range(view), [100, 200]);
  assert.equal(view.follow(200), true);
  assert.deepEqual(range(view), [190, 290]);
});

test('peaks are read as far as they are there, and of their format alone', () => {
  assert.deepEqual(readPeaks(peaksFile(2, [-1, 2, -3, 4, -5, 6, -7, 8])), { channels: 2, length: 2, data: Int8Array.of(-1, 2, -3, 4, -5, 6, -7, 8) });
  assert.deepEqual(readPeaks(peaksFile(1, [-1, 2, -3], { length: 9 })), { channels: 1, length: 1, data: Int8Array.of(-1, 2) });
  for (const other of [{ version: 1 }, { flags: 0 }]) assert.throws(() => readPeaks(peaksFile(1, [0, 0], other)), /peaks of an unknown format/);
  assert.throws(() => readPeaks(new ArrayBuffer(23)), /peaks of an unknown format/);
});

test('the level of a picture has pixels at most as wide as its own', () => {
  const { peaks } = peaksOf(2 ** 20);
  assert.equal(peaks.top, 10);
  assert.deepEqual([0.5, 1, 3.9, 4, 1024, 1e9].map((wide) => peaks.level(wide)), [0, 0, 1, 2, 10, 10]);
  assert.equal(peaksOf(100).peaks.top, 0);
});

test('a tile that is not there is fetched, and a coarser one stands for it meanwhile', async () => {
  const paths = serve(() => peaksFile(1, new Array(2048).fill(1)));
  const { peaks, loaded } = peaksOf(3000);
  assert.equal(peaks.find(0, 1), null);
  peaks.begin();
  peaks.find(2, 0);
  await loaded();
  assert.deepEqual(paths, ['/api/takes/kit%201/waveform.dat?frames_per_pixel=4&from=0&to=3000']);
  const coarse = peaks.find(0, 2);
  assert.deepEqual([coarse.level, coarse.first], [2, 0]);
  await loaded();
  assert.equal(paths[1], '/api/takes/kit%201/waveform.dat?frames_per_pixel=1&from=2048&to=3000');
  const fine = peaks.find(0, 2);
  assert.deepEqual([fine.level, fine.first], [0, 2048]);
  assert.equal(paths.length, 2);
});

test('a request that failed is made again by the next picture', async () => {
  let isDown = true;
  const paths = [];
  define({ fetch: async (path) => {
    paths.push(path);
    if (isDown) throw new Error('no network');
    return { ok: true, arrayBuffer: async () => peaksFile(1, [-1, 1]) };
  } });
  const { peaks, loaded } = peaksOf(1000);
  peaks.find(0, 0);
  while (!paths.length) await new Promise((done) => { setTimeout(done); });
  await new Promise((done) => { setTimeout(done); });
  isDown = false;
  peaks.find(0, 0);
  await loaded();
  assert.equal(paths.length, 2);
  assert.equal(peaks.find(0, 0).tile.length, 1);
});

test('a column of the picture reaches from the least to the greatest of its frames, and is cut at the lane’s edge', async () => {
  // The second quarter is half as high below and a quarter above, the last one is full below.
  const values = Array.from({ length: 1024 }, (_, frame) => (frame === 300 ? [-64, 0] : frame === 400 ? [0, 32] : frame === 1023 ? [-128, 127] : [0, 0]));
  serve(() => peaksFile(1, values.flat()));
  const { peaks, loaded } = peaksOf(1024);
  const view = new View(1024);
  const box = { x: 10, y: 0, width: 4, height: 100 };
  const draw = (gain) => {
    const { context, calls } = tracingContext('fillRect');
    drawSound(context, box, view, peaks, 1, { line: 'line', wave: 'wave' }, gain);
    return calls.map(([, ...rest]) => rest);
  };
  assert.deepEqual(draw(), [['line', 10, 50, 4, 1]]);
  await loaded();
  const half = 50 * 0.94;
  const lowest = 50 + half;
  const top = 50 - (127 / 128) * half;
  assert.deepEqual(draw(), [
    ['line', 10, 50, 4, 1], ['wave', 10, 50, 1, 1], ['wave', 11, 50 - half / 4, 1, half / 4 + half / 2], ['wave', 12, 50, 1, 1],
    ['wave', 13, top, 1, lowest - top],
  ]);
  assert.deepEqual(draw(4)[2], ['wave', 11, 50 - half, 1, 2 * half]);
});

test('frames that are wider than a pixel are drawn as samples', async () => {
  const paths = serve(() => wav([new Array(100).fill(0).map((_, frame) => (frame === 50 ? 0.5 : 0))]));
  const { peaks, loaded } = peaksOf(100);
  const view = new View(100);
  view.show(40, 64);
  const draw = () => {
    const { context, calls } = tracingContext('lineTo');
    drawSound(context, { x: 0, y: 0, width: 240, height: 100 }, view, peaks, 1, { line: 'line', wave: 'wave' });
    return calls.map(([, , ...place]) => place);
  };
  const waiting = loaded();
  assert.deepEqual(draw(), []);
  await waiting;
  assert.deepEqual(paths[0], '/api/takes/kit%201/clip?from=0&to=100&format=wav');
  peaks.close();
  const places = draw();
  assert.deepEqual(places.find(([x]) => x === 100), [100, 50 - 0.5 * 50 * 0.94]);
  assert.deepEqual([places[0][0], places.at(-1)[0]], [-10, 240]);
});

/** The bars of a small waveform, 100 pixels high: `[top, height]`. */
function thumbnail(channels, values) {
  const { context, calls } = tracingContext('fillRect');
  const canvas = { width: 2, height: 100, getContext: () => context };
  drawThumbnail(canvas, readPeaks(peaksFile(channels, values)), 'colour');
  assert.deepEqual(calls.map(([, colour, x, , width]) => [colour, x, width]), [['colour', 0, 1], ['colour', 1, 1]]);
  return calls.map(([, , , top, , height]) => [top, height]);
}

test('a small waveform has the greatest of all channels', () => {
  const values = [[-64, 0, -1, 64], [-128, 0, 0, 0], [0, 0, 0, 127], [0, 0, 0, 0]];
  const top = 50 * (1 - 127 / 128);
  assert.deepEqual(thumbnail(2, values.flat()), [[25, 75], [top, 50 - top]]);
});

test('the small waveform of a quiet take is magnified, but not its noise alone', () => {
  assert.deepEqual(thumbnail(1, [-8, 4, -16, 16]), [[37.5, 37.5], [0, 100]]);
  assert.deepEqual(thumbnail(1, [-1, 1, 0, 1]).map(([, height]) => height), [2 * 50 * 24 / 128, 50 * 24 / 128]);
  assert.deepEqual(thumbnail(1, [0, 0, 0, 0]), [[50, 1], [50, 1]]);
});
