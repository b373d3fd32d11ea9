import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { RowLayout, dayRuns, withoutTake } = await load('takes-parts.js');

const take = (day, seconds = 60) => ({ day, duration_seconds: seconds });
const runs = (...days) => dayRuns(days.map((day) => take(day)), ({ day }) => day);
/** A page with the days of its takes, `ab` for a take of the day a and one of b. */
const page = (name, days) => ({ stems: [...days].map((_, index) => `${name}${index}`), days: runs(...days) });
const sizes = { row: 50, head: 20, isComplete: true };

test('the days of a page begin where a take has another one than the take before', () => {
  const takes = [take('Mon', 10), take('Mon', 20), take('Tue', 5)];
  assert.deepEqual(dayRuns(takes, ({ day }) => day), [{ index: 0, text: 'Mon', seconds: 30 }, { index: 2, text: 'Tue', seconds: 5 }]);
  assert.deepEqual(dayRuns([], ({ day }) => day), []);
});

test('a page without a take has the days of those that are left', () => {
  for (const days of ['aab', 'ab', 'abb', 'abc', 'a']) {
    for (let removed = 0; removed < days.length; removed++) {
      const left = runs(...[...days].filter((_, index) => index !== removed));
      assert.deepEqual(withoutTake(runs(...days), removed, days.length, 60), left, `${days} without ${removed}`);
    }
  }
});

test('rows follow each other, with a heading above the first one of each day, also across pages', () => {
  const layout = new RowLayout([page('p', 'aab'), page('q', 'bbc')], sizes);
  const all = layout.within(0, layout.height).map(({ page: number, index, top, day }) => [number, index, top, day?.text ?? '']);
  assert.deepEqual(all, [[0, 0, 0, 'a'], [0, 1, 70, ''], [0, 2, 120, 'b'], [1, 0, 190, ''], [1, 1, 240, ''], [1, 2, 290, 'c']]);
  assert.equal(layout.height, 6 * 50 + 3 * 20);
  for (const [number, index, top] of all) assert.equal(layout.top(number, index), top);
  assert.deepEqual(layout.within(200, 1e9).map(({ number }) => number), [3, 4, 5]);
});

test('only the rows that touch a range are found', () => {
  const layout = new RowLayout([page('p', 'aab'), page('q', 'bbc')], sizes);
  const rows = (from, to) => layout.within(from, to).map(({ page: number, index }) => `${number}${index}`).join(' ');
  assert.deepEqual([rows(0, 1), rows(69, 71), rows(70, 120), rows(200, 300), rows(-500, 10), rows(400, 900), rows(-90, 0)],
    ['00', '00 01', '01', '10 11 12', '00', '', '']);
});

test('a day says what it has once all of it is loaded', () => {
  const pages = [page('p', 'aab'), page('q', 'bbc')];
  const days = (isComplete) => new RowLayout(pages, { ...sizes, isComplete }).within(0, 1e9).map(({ day }) => day).filter(Boolean);
  assert.deepEqual(days(false).map(({ text, count, seconds, isWhole }) => [text, count, seconds, isWhole]),
    [['a', 2, 120, true], ['b', 3, 180, true], ['c', 1, 60, false]]);
  assert.equal(days(true).at(-1).isWhole, true);
});

test('the day at a place of the list is that of the row there', () => {
  const layout = new RowLayout([page('p', 'aab'), page('q', 'bbc')], sizes);
  assert.deepEqual([0, 119, 120, 250, 289, 290, 5000].map((at) => layout.dayAt(at).text), ['a', 'a', 'b', 'b', 'b', 'c', 'c']);
  const plain = new RowLayout([{ stems: ['a', 'b'], days: [{ index: 0, text: '', seconds: 1 }] }], sizes);
  assert.deepEqual([plain.dayAt(60), plain.height, new RowLayout([], sizes).dayAt(0)], [null, 100, null]);
});

test('100 000 takes are laid out, and a screen of them is found, by their pages alone', () => {
  const pages = Array.from({ length: 2000 }, (_, number) => ({ stems: new Array(50).fill('x'), days: [{ index: 0, text: `day ${number >> 2}`, seconds: 1 }] }));
  const layout = new RowLayout(pages, sizes);
  assert.equal(layout.height, 100_000 * 50 + 500 * 20);
  const places = layout.within(2_500_000, 2_500_600);
  assert.ok(places.length <= 14, `${places.length}`);
  assert.ok(places[0].top <= 2_500_000 && places[0].top > 2_500_000 - 70);
});
