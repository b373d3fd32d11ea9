import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { bandText, clipOf, oppositeOf, placeOf, readKilohertz, regionOf, selected, selectionOf } = await load('marks.js');
const take = { frames: 10_000, rate_hz: 48_000 };

test('a selection is in order, of whole frames and hertz, and within the take', () => {
  assert.deepEqual(selected({ from: 900.4, to: 100.6 }, take), { from: 101, to: 900, band: null });
  assert.deepEqual(selected({ from: -50, to: 1e9, band: { low: 30_000, high: 1000.4 } }, take), { from: 0, to: 10_000, band: { low: 1000, high: 24_000 } });
});

test('nothing is selected between equal times, and a band without height is none', () => {
  assert.equal(selected({ from: 100.2, to: 99.9 }, take), null);
  assert.deepEqual(selected({ from: 1, to: 2, band: { low: 500, high: 500.2 } }, take), { from: 1, to: 2, band: null });
});

test('the corner opposite the dragged one stays', () => {
  const box = { from: 100, to: 200, band: { low: 1000, high: 2000 } };
  assert.deepEqual(['nw', 'ne', 'sw', 'se'].map((corner) => oppositeOf(corner, box)), [
    { frame: 200, hertz: 1000 }, { frame: 100, hertz: 1000 }, { frame: 200, hertz: 2000 }, { frame: 100, hertz: 2000 },
  ]);
  assert.deepEqual(oppositeOf('nw', { from: 100, to: 200, band: null }), { frame: 200, hertz: null });
});

test('a box becomes a region, and a region a box', () => {
  const box = { from: 100, to: 200, band: { low: 1000, high: 2000 } };
  const region = { at_frame: 100, end_frame: 200, low_hz: 1000, high_hz: 2000 };
  assert.deepEqual(regionOf(box), region);
  assert.deepEqual(selectionOf({ ...region, note: 'wren' }, take), box);
  assert.deepEqual(regionOf({ ...box, band: null }), { at_frame: 100, end_frame: 200 });
  assert.deepEqual(selectionOf({ at_frame: 100, end_frame: 200, low_hz: 50 }, take), { ...box, band: null });
  assert.equal(selectionOf({ at_frame: 100, low_hz: 1, high_hz: 2 }, take), null);
});

test('a note is saved with what it describes, and without a program’s data', () => {
  const found = { at_frame: 5, end_frame: 9, low_hz: 1, high_hz: 2, label: 'Turdus merula', by: 'birdnet', score: 0.8, note: 'x' };
  assert.deepEqual(placeOf(found), { at_frame: 5, end_frame: 9, low_hz: 1, high_hz: 2 });
  assert.deepEqual(placeOf({ at_frame: 5, end_frame: 9, high_hz: 2 }), { at_frame: 5, end_frame: 9 });
  assert.deepEqual(placeOf({ at_frame: 5, note: null }), { at_frame: 5 });
});

test('a clip has the selection’s time in its address and name', () => {
  assert.deepEqual(clipOf({ from: 100, to: 200, band: { low: 1, high: 2 } }, 'kit 1', 'flac'),
    { url: '/api/takes/kit%201/clip?from=100&to=200&format=flac', name: 'kit 1-100-200.flac' });
});

test('a band is written in kHz, and read with a point or a comma', () => {
  assert.deepEqual([bandText(2500, 8000), bandText(50, 20_480), bandText(undefined, 120_000), bandText(1500, undefined)],
    ['2.5–8\u00a0kHz', '0.05–20.5\u00a0kHz', '–120\u00a0kHz', '1.5–\u00a0kHz']);
  assert.deepEqual(['2.5', '2,5', '12', '0'].map(readKilohertz), [2500, 2500, 12_000, 0]);
  for (const text of ['', '2.', '.5', '-1', '1e3', '2 kHz']) assert.equal(readKilohertz(text), null, text);
});
