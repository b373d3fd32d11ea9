import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { Gestures } = await load('timeline.js');

/** Fingers on a picture: each call has the finger's number, its place and the time, and returns the action. */
function fingers(aim = 'pan') {
  const gestures = new Gestures();
  const event = (kind) => (id, x, y, at = 0) => gestures[kind]({ id, x, y, at }, aim);
  return { gestures, down: event('down'), move: event('move'), up: event('up'), cancel: event('cancel') };
}

const none = { kind: 'none' };

test('a short press that is held still is a tap, when it is lifted', () => {
  const { gestures, down, move, up } = fingers();
  assert.deepEqual(down(1, 100, 50, 0), none);
  assert.equal(gestures.isActive, true);
  assert.deepEqual(move(1, 105, 55, 40), none);
  assert.deepEqual(up(1, 105, 55, 90), { kind: 'tap', x: 105 });
  assert.equal(gestures.isActive, false);
});

test('a press that is long, or that was moved by more than 8 pixels, is no tap', () => {
  const long = fingers();
  long.down(1, 100, 50, 0);
  assert.deepEqual(long.up(1, 100, 50, 800), none);
  const moved = fingers();
  moved.down(1, 100, 50, 0);
  moved.move(1, 109, 50, 10);
  moved.move(1, 100, 50, 20);
  assert.deepEqual(moved.up(1, 100, 50, 30), none);
});

test('a second tap at the same place zooms, and a third one seeks again', () => {
  const { down, up } = fingers();
  const tap = (x, at) => { down(1, x, 50, at); return up(1, x, 50, at + 50); };
  assert.deepEqual([tap(100, 0), tap(110, 200), tap(110, 400)].map(({ kind }) => kind), ['tap', 'zoom', 'tap']);
  assert.deepEqual([tap(100, 2000), tap(140, 2200), tap(140, 3000)].map(({ kind }) => kind), ['tap', 'tap', 'tap']);
});

test('a drag moves the picture by what the finger moved, from its first pixel on', () => {
  const { down, move, up } = fingers();
  down(1, 100, 50);
  assert.deepEqual(move(1, 106, 50), none);
  assert.deepEqual(move(1, 110, 52), { kind: 'pan', by: 10 });
  assert.deepEqual(move(1, 90, 52), { kind: 'pan', by: -20 });
  assert.deepEqual(up(1, 90, 52), none);
});

test('a pinch zooms about its middle, and is never a tap, whichever finger is lifted first', () => {
  for (const [first, second] of [[1, 2], [2, 1]]) {
    const { gestures, down, move, up } = fingers();
    assert.deepEqual([down(1, 100, 50, 0), down(2, 200, 50, 20)], [none, none]);
    assert.deepEqual(move(1, 50, 50, 40), { kind: 'pinch', factor: 100 / 150, from: 150, to: 125 });
    assert.deepEqual(move(2, 250, 50, 60), { kind: 'pinch', factor: 150 / 200, from: 125, to: 150 });
    assert.deepEqual(up(first, 250, 50, 80), none);
    assert.deepEqual(up(second, 50, 50, 90), none);
    assert.equal(gestures.isActive, false);
  }
});

test('the finger that is left after a pinch moves the picture', () => {
  const { down, move, up } = fingers();
  down(1, 100, 50);
  down(2, 200, 50);
  move(2, 220, 50);
  up(1, 100, 50);
  assert.deepEqual(move(1, 0, 0), none);
  assert.deepEqual(move(2, 225, 50), { kind: 'pan', by: 5 });
  assert.deepEqual(up(2, 225, 50), none);
});

test('a third finger changes nothing', () => {
  const { down, move, up } = fingers();
  down(1, 100, 50);
  down(2, 200, 50);
  down(3, 300, 50);
  assert.deepEqual(move(3, 400, 50), { kind: 'pinch', factor: 1, from: 150, to: 150 });
  assert.deepEqual(up(3, 400, 50), none);
  assert.equal(move(1, 0, 50).factor, 0.5);
});

test('fingers on one spot do not zoom without limit', () => {
  const { down, move } = fingers();
  down(1, 100, 50);
  down(2, 101, 50);
  assert.equal(move(2, 120, 50).factor, 1);
  assert.equal(move(2, 140, 50).factor, 0.5);
});

test('a box is drawn from where the finger was pressed, and is finished when it is lifted', () => {
  const { down, move, up } = fingers('box');
  down(1, 100, 50);
  assert.deepEqual(move(1, 104, 54), none);
  assert.deepEqual(move(1, 160, 90), { kind: 'box', from: { x: 100, y: 50 }, to: { x: 160, y: 90 } });
  assert.deepEqual(move(1, 80, 20), { kind: 'box', from: { x: 100, y: 50 }, to: { x: 80, y: 20 } });
  assert.deepEqual(up(1, 80, 20), { kind: 'boxed' });
});

test('a tap seeks while boxes are drawn, and two fingers zoom', () => {
  const { down, move, up } = fingers('box');
  down(1, 100, 50, 0);
  assert.deepEqual(up(1, 100, 50, 50), { kind: 'tap', x: 100 });
  down(1, 100, 50, 1000);
  down(2, 200, 50, 1010);
  assert.equal(move(2, 300, 50).kind, 'pinch');
});

test('a corner of the selection follows the finger at once, and is not tapped', () => {
  const { down, move, up } = fingers('corner');
  down(1, 100, 50);
  assert.deepEqual(move(1, 101, 51), { kind: 'corner', x: 101, y: 51 });
  assert.deepEqual(up(1, 101, 51, 10), none);
});

test('a finger that the browser takes for scrolling does nothing more', () => {
  const { gestures, down, move, cancel, up } = fingers();
  down(1, 100, 50, 0);
  assert.deepEqual(cancel(1, 100, 60, 10), none);
  assert.equal(gestures.isActive, false);
  assert.deepEqual([move(1, 200, 60, 20), up(1, 200, 60, 30)], [none, none]);
});

test('pointers that were never pressed are ignored', () => {
  const { down, move, up } = fingers();
  assert.deepEqual([move(7, 1, 1), up(7, 1, 1)], [none, none]);
  down(1, 100, 50, 0);
  assert.deepEqual([move(7, 900, 1), up(7, 1, 1)], [none, none]);
  assert.deepEqual(up(1, 100, 50, 10), { kind: 'tap', x: 100 });
});
