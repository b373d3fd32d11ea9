import assert from 'node:assert/strict';
import test from 'node:test';
import { chunks, load, wav } from './browser.js';

const { findChunks, readWAV } = await load('wav.js');
// All formats represent these exactly.
const left = [0, 0.5, -1, -0.25, 0.125];
const right = [-0.5, 0.25, 0, -1, 0.75];

test('samples of every format are of full scale 1', () => {
  for (const format of ['U8', 'S16', 'S24', 'S32', 'F32', 'F64']) {
    const sound = readWAV(wav([left, right], { format, rate: 192_000 }));
    assert.deepEqual(sound, { rate: 192_000, frames: 5, channels: [left, right].map((samples) => Float32Array.from(samples)) }, format);
  }
});

test('an extensible header has its format in the subformat', () => {
  for (const format of ['S16', 'F32']) {
    assert.deepEqual(readWAV(wav([left], { format, isExtensible: true })).channels, [Float32Array.from(left)], format);
  }
});

test('chunks before the sound are skipped, and one of odd length has a byte more', () => {
  const before = [['JUNK', new Uint8Array(7).fill(65)], ['bext', new Uint8Array(602)]];
  assert.deepEqual(readWAV(wav([left], { format: 'S24', before })).channels, [Float32Array.from(left)]);
});

test('a file that ends early, or in a frame, has the whole frames that are there', () => {
  const file = wav([left, right], { format: 'S16' });
  assert.deepEqual(readWAV(file.slice(0, file.byteLength - 5)).channels, [left, right].map((samples) => Float32Array.from(samples.slice(0, 3))));
});

test('a stream’s header is enough to know where its sound begins', () => {
  const { format, data, length } = findChunks(new DataView(wav([left, right], { format: 'S16', rate: 44_100 }), 0, 44));
  assert.deepEqual({ rate: format.rate, frameBytes: format.frameBytes, data, length }, { rate: 44_100, frameBytes: 4, data: 44, length: 0 });
});

test('what is no WAV file of PCM is refused with a sentence', () => {
  const sound = new Uint8Array(wav([left], { format: 'S16' }));
  const changed = (at, value) => { const copy = sound.slice(); copy[at] = value; return copy.buffer; };
  assert.throws(() => readWAV(new ArrayBuffer(0)), /^Error: not a WAV file$/);
  assert.throws(() => readWAV(changed(0, 0x46)), /^Error: not a WAV file$/);
  assert.throws(() => readWAV(chunks([['data', new Uint8Array(8)]])), /^Error: a WAV file without a format$/);
  assert.throws(() => readWAV(sound.slice(0, 36).buffer), /^Error: a WAV file without sound$/);
  assert.throws(() => readWAV(changed(20, 2)), /^Error: a WAV file of format 2$/);
  assert.throws(() => readWAV(changed(32, 5)), /^Error: a WAV file with 5 bytes a sample$/);
});
