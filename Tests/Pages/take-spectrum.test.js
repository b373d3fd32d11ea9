import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { bandsOf } = await load('take-actions.js');

test('a band is offered where the rate has it', () => {
  const names = (rateHz) => bandsOf(rateHz).map(([name]) => name);
  assert.deepEqual([8000, 24_000, 48_000, 96_000, 384_000].map(names),
    [['all'], ['all'], ['all', 'audible'], ['all', 'audible', 'ultrasound'], ['all', 'audible', 'ultrasound']]);
  assert.deepEqual(bandsOf(96_000)[2][1], { low: 15_000, high: 48_000 });
  assert.deepEqual(bandsOf(1_000_000)[0][1], { low: 0, high: 500_000 });
});
