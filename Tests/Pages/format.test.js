import assert from 'node:assert/strict';
import test from 'node:test';
import { load, setLanguages } from './browser.js';

const format = await load('format.js');
const { setLanguage } = await load('texts.js');
setLanguages('de', ['en-GB', 'de-AT', 'de']);
setLanguage('de');
const german = await load('format.js', 'german');
// After midnight in Berlin, but not in UTC.
const late = new Date('2026-11-29T23:30:00Z');

test('a length has hours only where there are some', () => {
  const texts = [0, 59.999, 60, 754, 3600, 3723, 360_000, -1].map((seconds) => format.lengthText(seconds));
  assert.deepEqual(texts, ['0:00', '0:59', '1:00', '12:34', '1:00:00', '1:02:03', '100:00:00', '0:00']);
});

test('decimals of a length are cut, and not lost to binary fractions', () => {
  const texts = [[62.56, 1], [0.29, 2], [1.005, 3], [0.9996, 3]].map(([seconds, decimals]) => format.lengthText(seconds, decimals));
  assert.deepEqual(texts, ['1:02.5', '0:00.29', '0:01.005', '0:00.999']);
});

test('a length is read as it is written', () => {
  for (const seconds of [0, 0.001, 59.999, 61.5, 3599, 3600, 7322.25, 123_456.789]) {
    assert.equal(format.readLength(format.lengthText(seconds, 3)), seconds);
  }
  assert.equal(format.readLength('75:00'), 4500);
});

test('a language has its own decimal point, and both are read', () => {
  assert.equal(german.lengthText(62.56, 1), '1:02,5');
  assert.deepEqual([german.readLength('1:02,5'), german.readLength('1:02.5')], [62.5, 62.5]);
  assert.deepEqual([format.fixedText(-3, 1), german.fixedText(-3.14, 1), german.numberText(44.1, 3)], ['-3.0', '-3,1', '44,1']);
});

test('what is no length is not read', () => {
  for (const text of ['', '5', '1:2', '1:02.', '1:2:3', ':30', '-1:00', '1:02:03:04', 'noon', '1:00 ']) assert.equal(format.readLength(text), null);
});

test('sizes have a unit of 1000, and one decimal from a megabyte on', () => {
  const texts = [0, 999, 1234, 1_234_567, 32_000_000_000, 5e15].map(format.sizeText);
  assert.deepEqual(texts, ['0 B', '999 B', '1 kB', '1.2 MB', '32 GB', '5,000 TB']);
  assert.equal(german.sizeText(1_234_567), '1,2 MB');
});

test('days and times are local, or of UTC', () => {
  assert.equal(german.dayText(late, false), 'Montag, 30. November 2026');
  assert.equal(german.dayText(late, true), 'Sonntag, 29. November 2026');
  assert.equal(german.clockText(late, false), '00:30:00');
  assert.equal(german.clockText(late, true), '23:30:00 UTC');
  assert.equal(german.dateText(late, false), '30.11.2026, 00:30:00');
  assert.equal(german.dateText(late, true), '29.11.2026, 23:30:00 UTC');
});

test('a heading has the year of its day only if that is another one', () => {
  const headings = ['2026-12-31T12:00:00Z', '2027-01-01T12:00:00Z'].map((now) => format.headingText(late, new Date(now)).replace(',', ''));
  assert.deepEqual(headings, ['Mon 30 November', 'Mon 30 November 2026']);
  assert.equal(german.headingText(late, new Date('2026-12-31T12:00:00Z')), 'Mo., 30. November');
  assert.match(german.momentText(late, new Date('2026-12-31T12:00:00Z')), /^30\. Nov\.,? 00:30$/);
});

test('of the page’s language, the country’s form is the one that the browser asks for', () => {
  assert.match(format.dateText(late, true), /^29 Nov 2026/);
});

test('a take began at the corrected time, where there is one', () => {
  const started = '1970-01-01T00:00:07Z';
  assert.equal(+format.begun({ started, started_corrected: late.toISOString() }), +late);
  assert.equal(+format.begun({ started, started_corrected: null }), 7000);
});
