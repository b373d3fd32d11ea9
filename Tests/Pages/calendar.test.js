import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { factsText, fewAround, roundText, monthName, shadeOf, weeksOf } = await load('day.js');
const { readDay, secondsOf } = await load('day-facts.js');
const format = await load('format.js');
const { t } = await load('texts.js');
const { loadTexts } = await load('api.js');

for (const part of ['texts', 'takes-texts']) await loadTexts(part);

/** The weeks of a month, as the numbers of their days. */
const numbers = (day, first) => weeksOf(readDay(day), first).map((week) => week.map((date) => date?.getDate() ?? 0));

test('a month has whole weeks that begin with the first day of the region', () => {
  assert.deepEqual(numbers('2026-11-27', 1), [
    [0, 0, 0, 0, 0, 0, 1], [2, 3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22], [23, 24, 25, 26, 27, 28, 29], [30, 0, 0, 0, 0, 0, 0],
  ]);
  assert.deepEqual(numbers('2026-11-01', 7)[0], [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(numbers('2026-11-01', 7).length, 5);
  assert.deepEqual(numbers('2027-02-28', 1).length, 4);
  assert.deepEqual([numbers('2028-02-01', 1).flat().at(-6), numbers('2028-02-01', 1).flat().filter(Boolean).length], [29, 29]);
  assert.equal(monthName(readDay('2026-02-03')), '2026-02');
});

test('few weeks end with that of the day, or begin with the month', () => {
  const few = (day, month = day) => Object.values(fewAround(weeksOf(readDay(month), 1), readDay(day)));
  assert.deepEqual(['2026-11-01', '2026-11-09', '2026-11-27', '2026-11-30'].map((day) => few(day)), [[0, 2], [0, 2], [2, 4], [3, 5]]);
  assert.deepEqual(few('2026-11-27', '2026-12-01'), [0, 2]);
});

test('the days of a month are days also where the clocks change', () => {
  const days = weeksOf(readDay('2026-10-01'), 1).flat().filter(Boolean);
  assert.deepEqual(days.filter((day) => day.getHours() !== 0), []);
  assert.equal(days.reduce((sum, day) => sum + secondsOf(day), 0), 31 * 86_400 + 3600);
});

test('a shade tells a few minutes from an hour, a morning, half a day and a day', () => {
  assert.deepEqual([0, 1, 3599, 3600, 4 * 3600 - 1, 4 * 3600, 43_199, 43_200, 90_000].map(shadeOf), [0, 1, 1, 2, 2, 3, 3, 4, 4]);
});

test('a day has its recorded time in one unit', () => {
  assert.deepEqual([1, 90, 3599, 3600, 7800, 86_400].map((seconds) => roundText(seconds, t)), ['1 min', '2 min', '1 h', '1 h', '2 h', '24 h']);
});

test('what is known of a day is said in words', () => {
  assert.equal(factsText({ takes: 9, seconds: 7800, faults: 2 }, t), '9 takes, 2 h 10 min, 2 faults');
  assert.equal(factsText({ takes: 1, seconds: 12, faults: 0 }, t), '1 take, 12 s');
  assert.equal(factsText({ takes: 0, seconds: 0, faults: 1 }, t), '1 fault');
  assert.equal(factsText(undefined, t), 'nothing recorded');
  assert.equal(factsText({ takes: 0, seconds: 0, faults: 0 }, t), 'nothing recorded');
});

test('months and days of the week have names, and a week a first day', () => {
  const date = readDay('2026-11-27');
  assert.deepEqual([format.monthText(date), format.weekdayText(date, 'long'), format.weekdayText(date, 'short')], ['Nov 2026', 'Friday', 'Fri']);
  assert.equal(format.minuteText(new Date(2026, 10, 27, 5, 30, 58)), '05:30');
  assert.ok([1, 7].includes(format.firstWeekday()));
});
