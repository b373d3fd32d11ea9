import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load, serveClips, sine, worker } from './browser.js';

const send = await worker('player-worker.js');
const { bandFilters, normalSettings, Player } = await load('player.js');

/** Plays a take to its end: the pieces, and their sound behind each other. */
async function play(channels, rate, options) {
  const start = { stem: 'a', from: 0, to: channels[0].length, pitch: 1, stretch: 1, outputRate: 48_000, pieceFrames: 4096, ...options };
  const asked = serveClips(channels, rate);
  const pieces = await send({ start });
  while (!pieces.at(-1).isLast) pieces.push(...await send({}));
  const sound = pieces[0].channels.map((_, channel) => pieces.flatMap((piece) => [...piece.channels[channel]]));
  return { pieces, asked, sound };
}

/** The amplitude of a frequency in the middle of a sound. */
function amplitude(samples, hertz, rate) {
  const part = samples.slice(samples.length >> 2, (samples.length * 3) >> 2);
  let [real, imaginary, weight] = [0, 0, 0];
  part.forEach((value, n) => {
    const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / part.length);
    real += window * value * Math.cos((2 * Math.PI * hertz * n) / rate);
    imaginary += window * value * Math.sin((2 * Math.PI * hertz * n) / rate);
    weight += window;
  });
  return (2 * Math.hypot(real, imaginary)) / weight;
}

test('a range is fetched piece by piece, the first one small, and played bit for bit', async () => {
  const left = Array.from(Float32Array.from({ length: 10_000 }, (_, frame) => Math.sin(frame)));
  const right = Array.from(Float32Array.from({ length: 10_000 }, (_, frame) => Math.cos(frame)));
  const { pieces, asked, sound } = await play([left, right], 48_000, { from: 100, to: 7000 });
  assert.deepEqual(asked, [[100, 1124], [1124, 5220], [5220, 7000]]);
  assert.deepEqual(pieces.map(({ from, to, rate, isLast }) => [from, to, rate, isLast]), [
    [100, 1124, 48_000, false], [1124, 5220, 48_000, false], [5220, 7000, 48_000, true],
  ]);
  assert.deepEqual(sound, [left.slice(100, 7000), right.slice(100, 7000)]);
});

test('of more than two channels the mean is played', async () => {
  const { sound } = await play([[0.75, 0, 0.25], [0, 0, 0.25], [0, -0.75, 0.25], [0.25, 0.75, 0.25]], 48_000);
  assert.deepEqual(sound, [[0.25, 0, 0.25]]);
});

test('ultrasound that the loudspeaker cannot have is filtered away, and all else keeps its level', async () => {
  const rate = 192_000;
  const frames = 48_000;
  const mixed = sine(frames, 1000, rate, 0.4).map((value, n) => value + 0.4 * Math.sin((2 * Math.PI * 46_000 * n) / rate));
  const { pieces, sound: [sound] } = await play([mixed], rate, { pieceFrames: 4099 });
  assert.ok(pieces.length > 10);
  assert.ok(pieces.every((piece) => piece.rate === 48_000));
  assert.ok(Math.abs(sound.length - frames / 4) < 40, `${sound.length} frames`);
  const decibels = (hertz) => 20 * Math.log10(amplitude(sound, hertz, 48_000) / 0.4);
  assert.ok(Math.abs(decibels(1000)) < 0.05, `${decibels(1000)} dB`);
  // 46 kHz would be aliased to this frequency.
  assert.ok(decibels(2000) < -70, `${decibels(2000)} dB`);
  const { sound: whole } = await play([mixed], rate, { pieceFrames: 4 * frames });
  assert.deepEqual([sound], whole);
});

test('a pitch that is raised on a tape counts as a higher rate', async () => {
  const { pieces } = await play([new Array(9000).fill(0)], 48_000, { pitch: 2 });
  assert.deepEqual([...new Set(pieces.map((piece) => piece.rate))], [24_000]);
  const slow = await play([new Array(9000).fill(0)], 96_000, { pitch: 0.5 });
  assert.deepEqual([...new Set(slow.pieces.map((piece) => piece.rate))], [96_000]);
});

test('a sound that is stretched is longer or shorter, and keeps its pitch and level', async () => {
  const rate = 16_000;
  for (const stretch of [0.5, 0.8, 2, 4]) {
    const { sound: [sound] } = await play([sine(32_000, 440, rate, 0.5)], rate, { stretch });
    assert.ok(Math.abs(sound.length - 32_000 * stretch) < 0.1 * rate, `${stretch}: ${sound.length} frames`);
    const level = amplitude(sound, 440, rate);
    assert.ok(level > 0.4 && level < 0.55, `${stretch}: ${level}`);
    assert.ok(sound.every((value) => Math.abs(value) < 0.55), `${stretch}: too loud`);
  }
});

test('both channels are stretched alike', async () => {
  const left = sine(16_000, 300, 16_000, 0.5);
  const { sound } = await play([left, left.map((value) => -value)], 16_000, { stretch: 2 });
  assert.ok(sound[0].length > 20_000);
  assert.deepEqual(sound[1].map((value) => -value + 0), sound[0].map((value) => value + 0));
});

test('what the kit refuses is told in its words, and the page has words for a kit that does not answer', async () => {
  define({ fetch: async () => ({ ok: false, status: 404, json: async () => ({ detail: 'a: there is no such take' }) }) });
  const start = { stem: 'a', from: 0, to: 10, pitch: 1, stretch: 1, outputRate: 48_000, pieceFrames: 10 };
  assert.deepEqual(await send({ start }), [{ problem: { detail: 'a: there is no such take' } }]);
  define({ fetch: async () => { throw new TypeError('Failed to fetch'); } });
  assert.deepEqual(await send({ start }), [{ problem: { detail: '' } }]);
});

/** The level of a frequency after filters, in dB: the responses of Web Audio's filters, by its specification. */
function passed(filters, hertz, rate) {
  return filters.reduce((sum, { type, frequency, Q }) => {
    const turn = (2 * Math.PI * frequency) / rate;
    const alpha = Math.sin(turn) / (2 * 10 ** (Q / 20));
    const edge = type === 'lowpass' ? 1 - Math.cos(turn) : 1 + Math.cos(turn);
    const b = [edge / 2, type === 'lowpass' ? edge : -edge, edge / 2];
    const a = [1 + alpha, -2 * Math.cos(turn), 1 - alpha];
    const power = (factors) => {
      const angle = (2 * Math.PI * hertz) / rate;
      const part = (of) => factors.reduce((total, factor, index) => total + factor * of(angle * index), 0);
      return part(Math.cos) ** 2 + part(Math.sin) ** 2;
    };
    return sum + 10 * Math.log10(power(b) / power(a));
  }, 0);
}

test('a band is played by filters of the fourth order, at its played pitch', () => {
  const filters = bandFilters({ low: 1000, high: 4000 }, 1, 23_900);
  const levels = [500, 1000, 2000, 4000, 8000].map((hertz) => passed(filters, hertz, 48_000));
  assert.ok(Math.abs(levels[1] + 3) < 0.2 && Math.abs(levels[3] + 3) < 0.2, `3 dB at the edges: ${levels}`);
  assert.ok(Math.abs(levels[2]) < 0.3, `all in the middle: ${levels}`);
  assert.ok(levels[0] < -23 && levels[4] < -24, `24 dB an octave outside: ${levels}`);
  assert.deepEqual(bandFilters({ low: 40_000, high: 60_000 }, 0.1, 23_900).map(({ type, frequency }) => [type, frequency]),
    [['highpass', 4000], ['highpass', 4000], ['lowpass', 6000], ['lowpass', 6000]]);
});

test('an edge of a band that the sound does not reach has no filter', () => {
  assert.deepEqual(bandFilters(null, 1, 23_900), []);
  assert.deepEqual(bandFilters({ low: 0, high: 24_000 }, 1, 23_900), []);
  assert.deepEqual(bandFilters({ low: 40_000, high: 60_000 }, 1, 23_900).map(({ type, frequency }) => [type, frequency]),
    [['highpass', 23_900], ['highpass', 23_900]]);
});

/** A player on the kit, and the requests that it sends. Each waits for `answer`. */
function kitPlayer() {
  const posted = [];
  const failures = [];
  const answers = [];
  const api = { post: (path) => new Promise((resolve, reject) => {
    posted.push(path.split('/').at(-1));
    answers.push({ resolve, reject });
  }) };
  const player = new Player({ take: 'a', rate_hz: 1000, frames: 60_000 }, {
    api, settings: { ...normalSettings }, onStart() {}, onChange() {}, onEnd() {}, onFail: (error) => failures.push(error.message),
  });
  player.where = 'kit';
  const settled = () => new Promise(setImmediate);
  const answer = async (error) => {
    for (const { resolve, reject } of answers.splice(0)) if (error) reject(error); else resolve({});
    await settled();
  };
  return { player, posted, failures, answer };
}

test('the kit does not play what a person has stopped before it began', async () => {
  const early = kitPlayer();
  early.player.play();
  early.player.pause();
  await early.answer();
  assert.deepEqual([early.posted, early.player.isPlaying], [['speed', 'pitch', 'volume'], false]);
  const late = kitPlayer();
  late.player.seek(2000);
  late.player.play();
  await late.answer();
  late.player.pause();
  await late.answer();
  assert.deepEqual(late.posted, ['speed', 'pitch', 'volume', 'play', 'stop']);
});

test('the kit plays from the position, and is stopped; a refused setting plays nothing', async () => {
  const { player, posted, answer } = kitPlayer();
  player.seek(2000);
  player.play();
  for (let step = 0; step < 3; step++) await answer();
  player.pause();
  assert.deepEqual(posted, ['speed', 'pitch', 'volume', 'play', 'skip', 'stop']);
  const refused = kitPlayer();
  refused.player.play();
  await refused.answer(new Error('no card'));
  assert.deepEqual([refused.posted, refused.failures, refused.player.isPlaying], [['speed', 'pitch', 'volume'], ['no card'], false]);
});
