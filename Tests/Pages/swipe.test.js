import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { Swipe, enough } = await load('takes-parts.js');

/** A finger on a row: each call has its place, and returns the action. */
function finger() {
  const swipe = new Swipe();
  const event = (kind) => (x, y = 0, id = 1) => swipe[kind]({ id, x, y });
  return { down: event('down'), move: event('move'), up: event('up'), cancel: event('cancel') };
}

const none = { kind: 'none' };

test('a finger that moves a row far enough acts when it is lifted', () => {
  for (const [by, side] of [[enough, 'right'], [-enough, 'left']]) {
    const { down, move, up } = finger();
    assert.deepEqual(down(200), none);
    assert.deepEqual(move(200 + Math.sign(by) * 20, 3), { kind: 'slide', by: Math.sign(by) * 20, isEnough: false });
    assert.deepEqual(move(200 + by, 40), { kind: 'slide', by, isEnough: true });
    assert.deepEqual(up(200 + by), { kind: 'act', side });
  }
});

test('a row that was moved too little returns', () => {
  const { down, move, up } = finger();
  down(0);
  move(enough, 0);
  assert.deepEqual(up(enough - 1), { kind: 'back' });
});

test('a finger that is held still taps, and one that moves up or down scrolls', () => {
  const still = finger();
  still.down(0);
  assert.deepEqual([still.move(8, 8), still.up(8)], [none, none]);
  const scrolling = finger();
  scrolling.down(0);
  assert.deepEqual([scrolling.move(5, 30), scrolling.move(200, 30), scrolling.up(200)], [none, none, none]);
});

test('when the browser takes the finger, the row returns', () => {
  const { down, move, cancel } = finger();
  down(0);
  move(enough, 0);
  assert.deepEqual([cancel(enough), cancel(enough)], [{ kind: 'back' }, none]);
});

test('a second finger changes nothing', () => {
  const { down, move, up } = finger();
  down(0);
  move(30, 0);
  assert.deepEqual([down(0, 0, 2), move(200, 0, 2), up(200, 0, 2)], [none, none, none]);
  assert.deepEqual(up(enough), { kind: 'act', side: 'right' });
});
