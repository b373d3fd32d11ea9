import assert from 'node:assert/strict';
import test from 'node:test';
import { define, serveClips, sine, worker } from './browser.js';

const send = await worker('spectrogram-worker.js');
const rate = 8000;
const size = 256;
const bins = size / 2;
const isDone = (answer) => answer.isDone || answer.error !== undefined;
let id = 0;

/** Asks for a spectrogram; the default paints each bin as a row. */
async function compute(request, paint = {}) {
  id += 1;
  const frames = request.frames ?? request.to;
  return (await send({
    paint: { height: bins, low: -150, high: 0, lowHz: 20, isLogarithmic: false, ...paint },
    compute: { id, stem: 'a', rate, size, columns: 16, channel: null, from: 0, frames, ...request },
  }, isDone)).at(-1);
}

/** A column from the top: how bright each pixel is. Colours are in order of lightness. */
function column({ pixels, width, height }, x) {
  const bytes = new Uint8Array(pixels);
  return Array.from({ length: height }, (_, row) => [0, 1, 2].reduce((sum, part) => sum + bytes[4 * (row * width + x) + part], 0));
}

const brightest = (values) => values.indexOf(Math.max(...values));

test('a sine is the brightest in the row of its frequency, in each column', async () => {
  const asked = serveClips([sine(4096, 40 * (rate / size), rate)], rate);
  const answer = await compute({ from: 1024, to: 3072, frames: 4096 });
  assert.deepEqual([answer.id, answer.from, answer.to, answer.width, answer.height, answer.isWhole], [id, 1024, 3072, 16, bins, true]);
  for (let x = 0; x < 16; x++) assert.equal(brightest(column(answer, x)), bins - 1 - 40);
  // Includes the frames that a window needs around the first and the last column.
  assert.deepEqual(asked, [[896, 3200]]);
});

test('a sine of full scale is 0 dB, and what is two bins away is 60 dB below', async () => {
  serveClips([sine(4096, 40 * (rate / size), rate)], rate);
  const row = bins - 1 - 40;
  const pixel = (answer, at) => [...new Uint8Array(answer.pixels, 4 * (at * 16 + 8), 4)];
  assert.deepEqual(pixel(await compute({ to: 4096 }), row), [252, 253, 191, 255]);
  // Everything above -0.5 dB is white here, and below -1 dB black.
  const narrow = { low: -1, high: -0.5 };
  assert.deepEqual(pixel(await compute({ to: 4096 }, narrow), row), [252, 253, 191, 255]);
  const dark = await compute({ to: 4096 }, { low: -60, high: -59.5 });
  for (const at of [row - 2, row + 2, 0, bins - 1]) assert.deepEqual(pixel(dark, at), [0, 0, 4, 255], `row ${at}`);
  serveClips([sine(4096, 40 * (rate / size), rate, 0.8)], rate);
  assert.deepEqual(pixel(await compute({ to: 4096 }, narrow), row), [0, 0, 4, 255]);
});

test('the logarithmic axis has the same number of rows for each octave', async () => {
  for (const bin of [8, 16, 32, 64]) {
    const hertz = bin * (rate / size);
    serveClips([sine(4096, hertz, rate)], rate);
    const values = column(await compute({ to: 4096 }, { isLogarithmic: true, height: 400 }), 8);
    const share = Math.log((hertz + rate / size / 2) / 20) / Math.log(rate / 2 / 20);
    // A bin of a low frequency fills several rows.
    assert.ok(Math.abs(brightest(values) - 400 * (1 - share)) < 6, `${hertz} Hz in row ${brightest(values)}, wanted ${400 * (1 - share)}`);
  }
});

test('of several channels one is shown, or the mean power of all', async () => {
  serveClips([sine(4096, 20 * (rate / size), rate), sine(4096, 90 * (rate / size), rate)], rate);
  const rowsOf = async (channel) => {
    const values = column(await compute({ to: 4096, channel }), 8);
    return [bins - 1 - 20, bins - 1 - 90].map((row) => values[row] > 400);
  };
  assert.deepEqual([await rowsOf(0), await rowsOf(1), await rowsOf(null)], [[true, false], [false, true], [true, true]]);
  // Half the power is 3 dB less.
  const isAbove = async (low) => column(await compute({ to: 4096 }, { low, high: low + 0.1 }), 8)[bins - 1 - 20] > 400;
  assert.deepEqual([await isAbove(-3.5), await isAbove(-2.5)], [true, false]);
});

test('a column that begins before the take, or ends behind it, has silence there', async () => {
  serveClips([sine(4096, 40 * (rate / size), rate)], rate);
  const answer = await compute({ to: 512, frames: 4096 });
  const values = [0, 8].map((x) => column(answer, x)[bins - 1 - 40]);
  assert.ok(values[0] < values[1], `${values}`);
});

test('of a long range 64 windows are fetched, spread over it, from coarse to fine', async () => {
  const frames = 2 ** 20;
  const asked = serveClips([new Float32Array(frames).fill(0)], rate);
  const answer = await compute({ to: frames, columns: 1000 });
  assert.deepEqual([answer.width, answer.isWhole, asked.length], [64, false, 64]);
  assert.ok(asked.every(([from, to]) => to - from === size));
  const columns = asked.map(([from]) => Math.floor((from + size / 2) / (frames / 64)));
  assert.deepEqual(columns.slice(0, 8), [0, 32, 16, 48, 8, 24, 40, 56]);
  assert.deepEqual([...columns].sort((a, b) => a - b), Array.from({ length: 64 }, (_, index) => index));
});

test('a newer request ends the one before', async () => {
  serveClips([sine(4096, 40 * (rate / size), rate)], rate);
  const seen = [];
  const paint = { height: bins, low: -150, high: 0, lowHz: 20, isLogarithmic: false };
  const request = { stem: 'a', rate, size, channel: null, from: 0, to: 4096, frames: 4096, columns: 512 };
  send({ paint, compute: { ...request, id: 'old' } }, (answer) => { seen.push(answer); return false; });
  const answers = await send({ paint, compute: { ...request, id: 'new' } }, isDone);
  await new Promise((done) => { setTimeout(done, 20); });
  assert.deepEqual([...seen, ...answers].map((answer) => answer.id).filter((one) => one === 'old'), []);
  assert.equal(answers.at(-1).id, 'new');
});

test('a picture is painted again in other colours without a request', async () => {
  const asked = serveClips([sine(4096, 40 * (rate / size), rate, 0.1)], rate);
  const before = column(await compute({ to: 4096 }), 8)[bins - 1 - 40];
  const [again] = await send({ paint: { height: bins, low: -150, high: -40, lowHz: 20, isLogarithmic: false } });
  assert.ok(column(again, 8)[bins - 1 - 40] > before);
  assert.equal(asked.length, 1);
});

test('a kit that refuses is told as an error', async () => {
  define({ fetch: async () => ({ ok: false, status: 404 }) });
  const answer = await compute({ to: 4096 });
  assert.deepEqual([answer.id, answer.error], [id, '404']);
});
