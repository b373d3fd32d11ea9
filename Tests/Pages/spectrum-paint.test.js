import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { colourTable, contrastOf, FrequencyScale, noiseLift, rowsOfLines, TilePainting } = await load('spectrum-paint.js');
const rate = 48_000;

/** Pseudo-random numbers from 0 to 1 (Lehmer). */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** A tile of `value(row, column)`, with a window in each column and a frequency of it in each row. */
function tileOf(columns, rows, value) {
  const values = Uint8Array.from({ length: columns * rows }, (_, at) => value(Math.floor(at / columns), at % columns));
  return { columns, samples: rows, rows, window: 2 * rows, values };
}

/** The lift of a tile of 256 rows. */
const lift = noiseLift(tileOf(1, 256, () => 0));

/** Paints a tile with a colour for each dB. */
function painted(tile, scale, height, { floors = new Uint8Array(256), colours = Uint32Array.from({ length: 256 }, (_, value) => value) } = {}) {
  const painting = new TilePainting(tile, rowsOfLines(scale, height, tile.rows, rate / 2), floors, colours);
  painting.proceed();
  return painting.pixels;
}

/** The brightness of a pixel, from its three colours. */
const brightness = (pixel) => (pixel & 255) + ((pixel >> 8) & 255) + ((pixel >> 16) & 255);

test('a linear axis has equal steps, and a logarithmic one equal ratios', () => {
  const linear = new FrequencyScale(0, 24_000, false);
  assert.deepEqual([0, 6000, 24_000].map((hertz) => linear.share(hertz)), [0, 0.25, 1]);
  assert.equal(linear.hertz(0.25), 6000);
  const log = new FrequencyScale(0, 20_480, true);
  assert.deepEqual([40, 320, 20_480].map((hertz) => Math.round(1e6 * log.share(hertz)) / 1e6), [0, 0.333333, 1]);
  assert.ok(Math.abs(log.hertz(1 / 3) - 320) < 1e-9);
  assert.equal(new FrequencyScale(15_000, 120_000, true).low, 15_000);
});

test('the ticks of an axis are round numbers within it', () => {
  assert.deepEqual(new FrequencyScale(0, 24_000, false).ticks(6), [5000, 10_000, 15_000, 20_000]);
  assert.deepEqual(new FrequencyScale(0, 500_000, false).ticks(6), [100_000, 200_000, 300_000, 400_000]);
  assert.deepEqual(new FrequencyScale(15_000, 120_000, false).ticks(6), [20_000, 40_000, 60_000, 80_000, 100_000]);
  assert.deepEqual(new FrequencyScale(0, 24_000, true).ticks(9), [50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000]);
  assert.deepEqual(new FrequencyScale(0, 24_000, true).ticks(8), [100, 1000, 10_000]);
});

test('each row is in exactly one line where rows are finer, and each line shows the row around it where they are coarser', () => {
  for (const [height, rows] of [[200, 256], [256, 256], [100, 4096], [470, 256], [470, 128]]) {
    const lines = rowsOfLines(new FrequencyScale(0, rate / 2, false), height, rows, rate / 2);
    const seen = new Array(rows).fill(0);
    for (let line = 0; line < height; line++) {
      const [first, last] = [lines[2 * line], lines[2 * line + 1]];
      assert.ok(first <= last && first >= 0 && last < rows);
      for (let row = first; row <= last; row++) seen[row] += 1;
      if (height < rows) continue;
      // The middle of the line lies within the row, up to the rounding at its edge.
      const middle = (1 - (line + 0.5) / height) * rows;
      assert.ok(Math.abs(first + 0.5 - middle) <= 1, `${height} of ${rows}: line ${line} shows row ${first}`);
    }
    assert.ok(seen.every((count) => (height < rows ? count === 1 : count >= 1)), `${height} of ${rows}`);
  }
});

test('a band has only its rows', () => {
  const lines = rowsOfLines(new FrequencyScale(6000, 12_000, false), 64, 256, rate / 2);
  assert.deepEqual([lines[0], lines.at(-1)], [127, 64]);
});

test('on a logarithmic axis a tone is in the line of its frequency', () => {
  const scale = new FrequencyScale(0, rate / 2, true);
  for (const row of [8, 32, 100, 200]) {
    const pixels = painted(tileOf(1, 256, (at) => (at === row ? 99 : 1)), scale, 400);
    const lit = [...pixels.keys()].filter((line) => pixels[line] === 99);
    const wanted = 400 * (1 - scale.share((row + 0.5) * (rate / 512)));
    assert.ok(lit.some((line) => Math.abs(line - wanted) < 2), `row ${row} in lines ${lit}, wanted ${wanted}`);
  }
});

test('a pixel shows the greatest of its rows', () => {
  const tile = tileOf(2, 8, (row, column) => [[3, 9, 1, 1, 4, 0, 0, 7], [0, 0, 0, 0, 0, 0, 0, 0]][column][row]);
  assert.deepEqual([...painted(tile, new FrequencyScale(0, rate / 2, false), 4)], [7, 0, 4, 0, 1, 0, 9, 0]);
});

test('a picture is painted in pieces as at once', () => {
  const random = randomNumbers(3);
  const tile = tileOf(16, 64, () => 255 * random());
  const scale = new FrequencyScale(0, rate / 2, false);
  const whole = painted(tile, scale, 50);
  const pieces = new TilePainting(tile, rowsOfLines(scale, 50, 64, rate / 2), new Uint8Array(256), Uint32Array.from({ length: 256 }, (_, value) => value));
  let count = 0;
  for (; !pieces.isDone; count++) pieces.proceed(32);
  assert.equal(count, 2);
  assert.deepEqual(pieces.pixels, whole);
});

test('the noise of a band is dark, and what is louder than 99.9 % is bright', () => {
  const random = randomNumbers(7);
  // Noise of 60 to 64 dB in low bands and 40 dB less in high ones, and in one of 500 cells a sound 40 dB above it.
  const noise = (row) => (row < 128 ? 100 : 60) + Math.round(4 * random());
  const tile = tileOf(500, 256, (row, column) => noise(row) + ((7 * row) % 500 === column ? 40 : 0));
  const { floors, range } = contrastOf([{ tile, first: 0, last: 500 }]);
  assert.deepEqual([floors[10] - lift, floors[245] - lift], [102, 62]);
  assert.ok(range >= 38 && range <= 42, `${range}`);
});

test('only the columns in view count, and the contrast has limits', () => {
  const tile = tileOf(10, 256, (_, column) => (column < 5 ? 50 : 200));
  assert.deepEqual(contrastOf([{ tile, first: 0, last: 5 }]), { floors: new Uint8Array(256).fill(50 + lift), range: 24 });
  assert.equal(contrastOf([{ tile: tileOf(1000, 256, (_, column) => (column < 20 ? 200 : 50)), first: 0, last: 1000 }]).range, 50);
});

test('silence and what is not a number do not count', () => {
  const tile = tileOf(10, 256, (_, column) => [0, 0, 0, 0, 0, 0, 255, 70, 71, 72][column]);
  assert.equal(contrastOf([{ tile, first: 0, last: 10 }]).floors[128] - lift, 71);
  const silent = contrastOf([{ tile: tileOf(10, 256, () => 0), first: 0, last: 10 }]);
  assert.deepEqual([silent.floors[0], silent.range], [0, 50]);
});

test('a constant tone is not taken for noise, and a quiet band has its own', () => {
  const tile = tileOf(100, 256, (row) => (row >= 150 && row < 160 ? 110 : row >= 245 ? 20 : 60));
  const { floors } = contrastOf([{ tile, first: 0, last: 100 }]);
  assert.deepEqual([floors[155], floors[244], floors[245]].map((floor) => floor - lift), [60, 60, 20]);
});

test('noise is as dark at each zoom', () => {
  const random = randomNumbers(5);
  const power = () => -Math.log(random());
  /** White noise of `level` in each window of 512 samples, of which `pooled` are in a column. */
  const noise = (window, pooled, level) => {
    const density = level - 10 * Math.log10(window / 512);
    const tile = tileOf(200, 256, () => Math.round(density + 10 * Math.log10(Math.max(...Array.from({ length: pooled * (window / 512) }, power)))));
    return { ...tile, samples: (window * pooled) / 2, window };
  };
  const floors = [[512, 1], [512, 40], [1024, 1], [2048, 20]].map(
    ([window, pooled]) => contrastOf([{ tile: noise(window, pooled, 90), first: 0, last: 200 }]).floors[128]);
  assert.ok(Math.max(...floors) - Math.min(...floors) <= 1, `${floors}`);
});

test('a tile is painted with the noise of its own zoom', () => {
  const tile = { ...tileOf(1, 256, () => 70), samples: 1e6 };
  const floors = new Uint8Array(256).fill(60 + noiseLift(tile));
  assert.equal(painted(tile, new FrequencyScale(0, rate / 2, false), 10, { floors })[5], 10);
});

test('the colours become lighter with the level, and darker in sunlight', () => {
  for (const [map, sign] of [['night', 1], ['paper', -1]]) {
    const table = [...colourTable(map, 40)].map(brightness);
    for (let decibels = 1; decibels < 40; decibels++) assert.ok(sign * (table[decibels] - table[decibels - 1]) > 0, `${map}: ${decibels} dB`);
    assert.deepEqual([...new Set(table.slice(40))].length, 1);
  }
  assert.equal(colourTable('paper', 40)[0], 0xffffffff);
});

// A call of one cell, 20 dB above the noise of its band, in a picture of 10 minutes that is 200 lines high.
test('200 calls stand out in the picture that is seen first, day and night', () => {
  for (const map of ['night', 'paper']) {
    const random = randomNumbers(11);
    const normal = () => Array.from({ length: 6 }, random).reduce((sum, one) => sum + one, -3) / 0.7;
    const noise = (row) => 62 + 40 * Math.exp(-row / 20);
    const tile = tileOf(512, 256, (row) => noise(row) + 2 * normal());
    const calls = Array.from({ length: 200 }, () => ({ column: Math.floor(512 * random()), row: Math.floor(256 * random()) }));
    for (const { column, row } of calls) tile.values[row * 512 + column] = noise(row) + 20;
    const scale = new FrequencyScale(0, rate / 2, false);
    const { floors, range } = contrastOf([{ tile, first: 0, last: 512 }]);
    const pixels = painted(tile, scale, 200, { floors, colours: colourTable(map, range) });
    const lines = rowsOfLines(scale, 200, 256, rate / 2);
    const isCall = new Set();
    const lineOf = (row) => [...Array(200).keys()].find((line) => row >= lines[2 * line] && row <= lines[2 * line + 1]);
    for (const call of calls) isCall.add(lineOf(call.row) * 512 + call.column);
    for (const { column, row } of calls) {
      const line = lineOf(row);
      const around = [];
      for (let x = Math.max(0, column - 20); x <= Math.min(511, column + 20); x++) {
        if (!isCall.has(line * 512 + x)) around.push(brightness(pixels[line * 512 + x]));
      }
      around.sort((a, b) => a - b);
      const [middle, spread] = [around[around.length >> 1], around.at(-1) - around[0]];
      const difference = Math.abs(brightness(pixels[line * 512 + column]) - middle);
      assert.ok(difference > 150 && difference > spread, `${map}: row ${row}: ${difference} from ${middle}, noise within ${spread}`);
    }
  }
});
