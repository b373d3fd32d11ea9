import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load } from './browser.js';

const { SpectrumLevels, SpectrumTiles, placeTile, readSpectrum } = await load('spectrum.js');
const { View } = await load('waveform.js');
const rate = 48_000;

/** An answer of the kit: `value(row, column)`. */
function spectrum(columns, rows, value = () => 0, { name = 'FFSPECT1', window = 1024 } = {}) {
  const bytes = new Uint8Array(32 + columns * rows);
  bytes.set(new TextEncoder().encode(name));
  const head = new DataView(bytes.buffer);
  [columns, rows, rate, window].forEach((number, index) => head.setUint32(8 + 4 * index, number, true));
  for (let column = 0; column < columns; column++) {
    for (let row = 0; row < rows; row++) bytes[32 + column * rows + row] = value(row, column);
  }
  return bytes.buffer;
}

/** Lets what is answered be handled. */
const settle = async () => { for (let turn = 0; turn < 20; turn++) await null; };

/** Tiles of a take, with a clock and a kit that the test drives. `reply(query)` is a buffer, or an
 * object with some of `status`, `json`, `headers` and `content`, or throws. */
function driven({ frames = 600 * rate, channels = 1, rateHz = rate, reply = () => spectrum(4, 2), addresses = undefined } = {}) {
  const timers = new Map();
  const asked = [];
  const aborted = [];
  let [now, count] = [0, 0];
  const kit = { reply, isHeld: false };
  define({
    setTimeout: (body, delay) => { count += 1; timers.set(count, { body, at: now + delay }); return count; },
    clearTimeout: (id) => timers.delete(id),
    fetch: async (path, { signal }) => {
      const query = path.slice(path.indexOf('?') + 1);
      asked.push(query);
      if (kit.isHeld) await new Promise((_, fail) => { signal.addEventListener('abort', () => { aborted.push(query); fail(new Error('aborted')); }); });
      const answer = kit.reply(query);
      const { status = 200, json, headers, content = answer } = answer;
      return { status, ok: status < 300, headers: new Headers(headers), arrayBuffer: async () => content, json: async () => json };
    },
  });
  const seen = { loads: 0, updates: 0, states: [] };
  const tiles = new SpectrumTiles({ take: 'kit 1', frames, rate_hz: rateHz, channels }, {
    addresses, onLoad: (_, isUpdate) => { seen.loads += 1; seen.updates += isUpdate; }, onState: (state) => seen.states.push(JSON.parse(JSON.stringify(state))),
  });
  const pass = async (milliseconds) => {
    now += milliseconds;
    for (const [id, { body, at }] of [...timers]) if (at <= now && timers.delete(id)) body();
    await settle();
  };
  /** A picture with tiles of a level. */
  const look = (level, ...indices) => {
    tiles.begin();
    const found = indices.map((index) => tiles.find(level, index));
    tiles.end();
    return found;
  };
  return { tiles, asked, aborted, seen, pass, look, kit };
}

test('a whole take is one tile, and its first picture on a phone is one or two', () => {
  for (const frames of [1, 300, 14_400, 10 * rate, 240 * rate, 600 * rate, 86_400 * rate]) {
    const levels = new SpectrumLevels(frames, rate);
    const { from, to, columns } = levels.range(levels.top, 0);
    assert.deepEqual([from, to], [0, frames]);
    assert.ok(columns <= 512 && (columns > 255 || frames < 256), `${frames}: ${columns}`);
    const level = levels.level(frames / 720);
    assert.ok(Math.ceil(frames / levels.span(level)) <= 2, `${frames}`);
  }
});

test('the columns of a level are at least a pixel wide, down to 32 frames at 48 kHz', () => {
  const levels = new SpectrumLevels(600 * rate, rate);
  assert.deepEqual([1e9, 100_000, 1025, 1024, 1000, 33, 1].map((wide) => levels.level(wide)), [18, 17, 11, 10, 10, 6, 5]);
  // A narrow picture of a whole take has fewer columns than the largest tile.
  assert.deepEqual([levels.top, levels.range(17, 0)], [16, { from: 0, to: 600 * rate, columns: 219 }]);
  assert.equal(new SpectrumLevels(1e9, 384_000).finest, 8);
  assert.equal(new SpectrumLevels(1e9, 8000).finest, 2);
});

test('what the kit computes from the sound is never longer than 60 s', () => {
  for (const hertz of [8000, 11_025, 44_100, 48_000, 96_000, 250_000, 384_000, 1_000_000]) {
    const levels = new SpectrumLevels(1e12, hertz);
    for (let level = levels.finest; !levels.isFromFile(level); level++) assert.ok(levels.span(level) <= 60 * hertz, `${hertz} Hz, level ${level}`);
    assert.ok(levels.isFromFile(levels.top));
  }
});

test('the last tile ends with the take, and its columns are as wide as the others or wider', () => {
  const levels = new SpectrumLevels(1000 * 1024 + 700, rate);
  assert.deepEqual(levels.range(10, 1), { from: 512 * 1024, to: 1000 * 1024 + 700, columns: 488 });
  assert.deepEqual(new SpectrumLevels(512 * 1024 + 5, rate).range(10, 1), { from: 512 * 1024, to: 512 * 1024 + 5, columns: 1 });
});

test('an answer is read row by row; what is cut off or another format is refused', () => {
  const { values, ...head } = readSpectrum(spectrum(3, 2, (row, column) => 10 * row + column));
  assert.deepEqual([head, [...values]], [{ columns: 3, rows: 2, rate, window: 1024 }, [0, 1, 2, 10, 11, 12]]);
  assert.throws(() => readSpectrum(spectrum(3, 2).slice(0, 37)), /cut off/);
  assert.throws(() => readSpectrum(spectrum(3, 2, undefined, { name: 'FFSPECT2' })), /unknown format/);
  assert.throws(() => readSpectrum(new ArrayBuffer(7)), /unknown format/);
});

test('no column in view is skipped, at any zoom', () => {
  const frames = 600 * rate + 12_345;
  const levels = new SpectrumLevels(frames, rate);
  const view = new View(frames);
  for (let step = 1; step < 400; step++) {
    const width = 300 + step;
    const length = frames / 1.03 ** step;
    view.show(((step * 7919) % 1000) / 1000 * (frames - length), ((step * 7919) % 1000) / 1000 * (frames - length) + length);
    const level = levels.level(view.length / width);
    if (level === levels.finest) break;
    const span = levels.span(level);
    let drawn = 0;
    for (let index = Math.floor(view.from / span); index * span < Math.min(view.to, frames); index++) {
      const tile = levels.range(level, index);
      const place = placeTile(tile, tile, view, width);
      drawn += place.width;
      const hit = new Set(Array.from({ length: place.width }, (_, x) => Math.floor(place.first + ((x + 0.5) / place.width) * place.count)));
      // Columns that are at least a pixel in view.
      const perPixel = view.length / width;
      const perColumn = (tile.to - tile.from) / tile.columns;
      for (let column = 0; column < tile.columns; column++) {
        const [left, right] = [column, column + 1].map((edge) => (tile.from + edge * perColumn - view.from) / perPixel);
        if (right - 1 >= -1e-6 && left + 1 <= width + 1e-6 && left >= 0 && right <= width) {
          assert.ok(hit.has(column), `step ${step}, level ${level}, tile ${index}: column ${column} of ${tile.columns}`);
        }
      }
    }
    assert.equal(drawn, width, `step ${step}: the tiles fill the picture`);
  }
});

test('the first picture asks for the whole take at once, and for finer tiles when it rests', async () => {
  const { asked, pass, look, seen } = driven();
  assert.deepEqual(look(14, 0, 1), [null, null]);
  await pass(0);
  assert.deepEqual(asked, [
    'from=0&to=28800000&columns=439&channel=0', 'from=0&to=8388608&columns=512&channel=0', 'from=8388608&to=16777216&columns=512&channel=0',
  ]);
  await settle();
  assert.equal(seen.loads, 3);
  assert.deepEqual(seen.states, [{ kind: 'loading' }, { kind: 'whole' }]);
  assert.deepEqual(look(14, 0, 1).map(({ level, index }) => [level, index]), [[14, 0], [14, 1]]);
});

test('a coarser tile stands for a finer one, which is asked for only where the zoom rests', async () => {
  const { asked, pass, look } = driven();
  look(16, 0);
  await pass(0);
  asked.length = 0;
  for (const [level, index] of [[15, 0], [14, 1], [13, 2], [12, 3]]) {
    assert.deepEqual(look(level, index).map((tile) => tile.level), [16]);
    await pass(100);
  }
  assert.deepEqual(asked, []);
  await pass(20);
  assert.deepEqual(asked, ['from=6291456&to=8388608&columns=512&channel=0']);
});

test('at most three requests run, and those that are no longer wanted end', async () => {
  const { asked, aborted, pass, look, kit } = driven();
  look(16, 0);
  await pass(0);
  kit.isHeld = true;
  asked.length = 0;
  look(10, 0, 1, 2, 3, 4);
  await pass(120);
  assert.equal(asked.length, 3);
  look(10, 2, 3);
  await pass(120);
  assert.deepEqual(aborted, asked.slice(0, 2));
  assert.deepEqual(asked.slice(3).map((query) => query.slice(0, 13)), ['from=1572864&']);
});

test('of several channels the greatest is shown, or one of them', async () => {
  const { tiles, asked, pass, look } = driven({ channels: 3, reply: (query) => spectrum(2, 1, (_, column) => (Number(query.at(-1)) === column ? 9 : 1)) });
  look(16, 0);
  await pass(0);
  assert.deepEqual(asked.map((query) => query.slice(-9)), ['channel=0', 'channel=1', 'channel=2']);
  assert.deepEqual([...look(16, 0)[0].values], [9, 9]);
  tiles.set({ channel: 1 });
  look(16, 0);
  await pass(120);
  assert.deepEqual([asked.at(-1).slice(-9), [...look(16, 0)[0].values]], ['channel=1', [1, 9]]);
});

test('the size of the windows is asked for only where the kit computes from the sound', async () => {
  const { tiles, asked, pass, look } = driven();
  tiles.set({ size: 256 });
  look(13, 0);
  await pass(0);
  look(12, 0);
  await pass(120);
  assert.deepEqual(asked.filter((query) => query.includes('size')), ['from=0&to=2097152&columns=512&channel=0&size=256']);
});

test('while the kit computes, it is asked each second, and the share is told', async () => {
  let share = 0.1;
  const { asked, pass, look, seen, kit } = driven({ reply: () => ({ status: 202, json: { computed: share } }) });
  look(16, 0);
  await pass(0);
  assert.equal(asked.length, 1);
  share = 0.42;
  await pass(999);
  assert.equal(asked.length, 1);
  await pass(1);
  assert.equal(asked.length, 2);
  kit.reply = () => spectrum(4, 2);
  await pass(1000);
  assert.deepEqual([asked.length, seen.loads], [3, 1]);
  assert.deepEqual(seen.states, [{ kind: 'loading' }, { kind: 'computing', share: 0.1, why: '' }, { kind: 'computing', share: 0.42, why: '' }, { kind: 'whole' }]);
});

test('the sound of a day has its own addresses and rate', async () => {
  const { asked, pass, look } = driven({
    frames: 86_400 * 8, rateHz: 8, addresses: ({ from, to, columns }) => [`/day?from=${from / 8}&until=${to / 8}&columns=${columns}`],
  });
  look(11, 0);
  await pass(0);
  assert.deepEqual(asked, ['from=0&until=86400&columns=337']);
  const [{ from, to, samples }] = look(11, 0);
  assert.deepEqual([from, to, samples], [0, 86_400 * 8, 86_400 * rate / 4]);
});

test('a tile of which a part is not computed yet is drawn, and asked for again after 10 s', async () => {
  let computed = '0.4';
  const { tiles, asked, pass, look, seen } = driven({ reply: () => ({ content: spectrum(4, 2), headers: { 'Fieldfare-Computed': computed } }) });
  look(16, 0);
  await pass(0);
  const [part] = look(16, 0);
  assert.deepEqual([part.computed, tiles.isWhole, asked.length, seen.updates], [0.4, true, 1, 0]);
  computed = '1.0';
  await pass(9999);
  assert.equal(asked.length, 1);
  await pass(1);
  assert.deepEqual([asked.length, seen.updates, look(16, 0)[0].computed], [2, 1, 1]);
  await pass(60_000);
  assert.equal(asked.length, 2);
  assert.deepEqual(seen.states, [{ kind: 'loading' }, { kind: 'computing', share: 0.4, why: '' }, { kind: 'whole' }]);
});

test('a request that failed is made again after 3 s, and one that was refused is not', async () => {
  const { asked, pass, look, seen, kit } = driven({ reply: () => { throw new Error('no network'); } });
  look(16, 0);
  await pass(0);
  await pass(2999);
  assert.equal(asked.length, 1);
  kit.reply = () => ({ status: 404, json: { detail: 'the sound is not there' } });
  await pass(1);
  await pass(60_000);
  assert.equal(asked.length, 2);
  assert.deepEqual(seen.states, [{ kind: 'loading' }, { kind: 'failed', why: '' }, { kind: 'failed', why: 'the sound is not there' }]);
});

test('nothing is asked or told after the end', async () => {
  const { tiles, asked, pass, look, seen, kit } = driven();
  kit.isHeld = true;
  look(16, 0);
  await pass(0);
  tiles.close();
  await pass(60_000);
  assert.deepEqual([asked.length, seen.loads, seen.states], [1, 0, [{ kind: 'loading' }]]);
});

test('the tiles that were not used for longest are dropped beyond 64', async () => {
  const { asked, pass, look } = driven({ frames: 86_400 * rate });
  const top = 23;
  look(top, 0);
  await pass(0);
  for (let index = 0; index < 70; index++) {
    look(10, index);
    await pass(120);
    // The whole take is used by each picture.
    look(top, 0);
  }
  const count = asked.length;
  look(top, 0);
  await pass(120);
  look(10, 69);
  await pass(120);
  assert.equal(asked.length, count);
  look(10, 0);
  await pass(120);
  assert.equal(asked.length, count + 1);
});
