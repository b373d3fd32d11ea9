import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { t } = await load('texts.js');
const { loadTexts } = await load('api.js');
await loadTexts('kit-texts');
const { labelPlace, linePath, seenText, timeTicks, valueTicks } = await load('kit-parts.js');

const hour = 3_600_000;
const at = (text) => Date.parse(text);

test('a label at the edge of a picture stays within it', () => {
  assert.equal(labelPlace('00:00', 97.31), 'clamp(1.60em, 97.3%, 100% - 1.60em)');
  assert.equal(labelPlace('11\uc6d4', 0), 'clamp(1.14em, 0.0%, 100% - 1.14em)');
});

test('an axis of values has round ends around the range, and few ticks', () => {
  assert.deepEqual(valueTicks(21.3, 48.9), { ticks: [20, 30, 40, 50], least: 20, most: 50, digits: 0 });
  assert.deepEqual(valueTicks(3.31, 4.12).ticks, [3, 3.5, 4, 4.5]);
  assert.deepEqual(valueTicks(-5, 5).ticks, [-5, 0, 5]);
  const small = valueTicks(3.912, 3.918);
  assert.deepEqual([small.ticks, small.digits], [[3.91, 3.915, 3.92], 3]);
  for (const [least, most] of [[0, 0], [20, 20], [-3, -3], [1e-9, 2e-9], [153.2, 153.2], [0, 1e12]]) {
    const { ticks, least: from, most: until } = valueTicks(least, most);
    assert.ok(from <= least + 1e-12 && until >= most - 1e-12 && until > from && ticks.length >= 2 && ticks.length <= 6, `${least} ${most}: ${ticks}`);
  }
});

test('an axis of times has local hours, or local days', () => {
  const day = timeTicks(at('2026-11-27T10:20:00Z'), at('2026-11-28T10:20:00Z'));
  assert.deepEqual(day.map(({ text }) => text), ['12:00', '18:00', '00:00', '06:00']);
  assert.equal(day[0].at, at('2026-11-27T11:00:00Z'));
  const week = timeTicks(at('2026-11-21T10:20:00Z'), at('2026-11-28T10:20:00Z'));
  assert.deepEqual(week.map(({ text }) => text), ['23 Nov', '25 Nov', '27 Nov']);
  assert.ok(week.every(({ at: time }) => new Date(time).getHours() === 0));
  for (const span of [1, 5, 30, 100, 400, 9600]) assert.ok(timeTicks(at('2026-01-05T03:00:00Z'),
    at('2026-01-05T03:00:00Z') + span * hour).length <= 8, `${span} h`);
});

test('on the day of a clock change the hours are those of the clock', () => {
  const ticks = timeTicks(at('2026-10-25T00:00:00+02:00'), at('2026-10-26T00:00:00+01:00'));
  assert.deepEqual(ticks.map(({ text }) => text), ['00:00', '06:00', '12:00', '18:00', '00:00']);
  assert.equal(ticks[1].at - ticks[0].at, 7 * hour);
});

test('a line is interrupted where nothing was measured, and a point alone is a dot', () => {
  const range = { from: 0, until: 100, least: 0, most: 10 };
  const path = (points) => linePath(points, range, [1000, 100], 10);
  assert.equal(path([[0, 0], [10, 5], [50, 10], [80, 10], [85, 0]]), 'M0.0 100.0L100.0 50.0M500.0 0.0h1M800.0 0.0L850.0 100.0');
  assert.equal(path([]), '');
});

test('the last day of a phone is today, yesterday, or a date', () => {
  const now = new Date('2026-11-29T00:10:00Z');
  const seen = ['2026-11-29', '2026-11-28', '2026-11-21', null].map((date) => seenText(date, now, t));
  assert.deepEqual([seen[0], seen[1], seen[3]], ['seen today', 'seen yesterday', 'never seen']);
  assert.match(seen[2], /^last seen on .*21.*2026/);
});
