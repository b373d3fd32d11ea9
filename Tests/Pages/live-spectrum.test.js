import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load } from './browser.js';

const {
  ColumnHistory, SpectrumPainter, SpectrumReader, bandsUpTo, follow, layout, mostPerFrame, palette, shownColumns, ticksUpTo,
} = await load('live-spectrum.js');
const { levels } = await load('spectrum-paint.js');

// MARK: The answer

/** An answer of the kit: columns of 20 a second, with their number as each value. */
function answer(count, { channels = 2, rate = 48000, first = 9_000_000_000, name = 'FFSPECT1', rows = 256 } = {}) {
  const bytes = new Uint8Array(32 + count * (8 + 256 * channels));
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode(name));
  [channels, rows, rate, 1024].forEach((number, index) => view.setUint32(8 + 4 * index, number, true));
  view.setBigInt64(24, BigInt(first), true);
  for (let column = 0; column < count; column += 1) {
    const at = 32 + column * (8 + 256 * channels);
    view.setBigInt64(at, BigInt(first + column * (rate / 20)), true);
    bytes.fill(column % 251, at + 8, at + 8 + 256 * channels);
  }
  return bytes;
}

test('an answer is read from pieces of any size', () => {
  const bytes = answer(5);
  for (const size of [1, 31, 33, 520, 700, bytes.length]) {
    const reader = new SpectrumReader();
    const records = [];
    for (let at = 0; at < bytes.length; at += size) {
      for (const { frame, values } of reader.read(bytes.subarray(at, at + size))) records.push([frame, values.length, values[0], values[511]]);
    }
    assert.deepEqual(reader.head, { channels: 2, rate: 48000, first: 9_000_000_000 });
    assert.deepEqual(records, Array.from({ length: 5 }, (_, column) => [9_000_000_000 + 2400 * column, 512, column, column]), `pieces of ${size}`);
  }
});

test('what is no spectrogram is refused', () => {
  for (const wrong of [{ name: 'FFSPECT2' }, { rows: 128 }, { channels: 0 }, { rate: 0 }]) {
    assert.throws(() => new SpectrumReader().read(answer(0, wrong)), `${JSON.stringify(wrong)}`);
  }
});

/** A response with a body of these pieces. `cancelled` says whether the rest was given up. */
function response(status, ...pieces) {
  const body = new ReadableStream({
    pull(controller) {
      if (pieces.length) controller.enqueue(pieces.shift());
      else controller.close();
    },
  });
  return { ok: status === 200, status, body };
}

/** Answers requests in order, and lists what `follow` reports. After the last answer the page is left. */
async function followed(...answers) {
  const reports = [];
  const run = new AbortController();
  define({
    fetch: async (path, { signal }) => {
      assert.equal(path, '/api/spectrum/live');
      if (answers.length === 1) setTimeout(() => run.abort(), 20);
      const next = answers.shift();
      if (!next) throw signal.reason ?? new Error('no more requests were expected');
      return typeof next === 'function' ? next() : next;
    },
  });
  await follow(run.signal, {
    onHead: ({ first }) => reports.push(`head ${first}`), onRecords: (records) => reports.push(records.length), onNone: () => reports.push('none'),
  }, 1);
  return { reports, left: answers.length };
}

test('the spectrogram is requested again after each end, and while the kit sends no sound', async () => {
  const lost = () => { throw new TypeError('network'); };
  const { reports } = await followed(
    response(200, answer(2), answer(3, { first: 0 }).subarray(32)), response(503), lost, response(200, new Uint8Array(40)),
    response(200, answer(1, { first: 7 }).subarray(0, 20), answer(1, { first: 7 }).subarray(20)));
  assert.deepEqual(reports, ['head 9000000000', 2, 3, 'none', 'head 7', 1]);
});

test('a kit that forbids it is not asked again', async () => {
  for (const status of [401, 403]) {
    assert.deepEqual(await followed(response(status), response(200, answer(1))), { reports: ['none'], left: 1 });
  }
});

test('a page that is left requests nothing more', async () => {
  const run = new AbortController();
  let requests = 0;
  define({ fetch: async () => { requests += 1; run.abort(); throw run.signal.reason; } });
  await follow(run.signal, { onHead() {}, onRecords() {}, onNone() {} }, 1);
  assert.equal(requests, 1);
});

// MARK: Colours

test('the contrast follows the noise and the loud parts, spans 30 dB, and leaves silence out', () => {
  const noise = Array.from({ length: 9900 }, (_, index) => 60 + (index % 8));
  assert.deepEqual(levels([...noise, ...Array(100).fill(120), ...Array(50_000).fill(0)]), { low: 62, high: 120 });
  assert.deepEqual(levels(noise), { low: 61, high: 91 });
  for (const nothing of [[], [0, 0]]) {
    const { low, high } = levels(nothing);
    assert.ok(high - low >= 30);
  }
});

test('colours outside the contrast are the first and the last, and in sunlight dark on white', () => {
  const bytes = (colour) => [...new Uint8Array(Uint32Array.of(colour).buffer)];
  const dark = palette({ low: 60, high: 120 }, false);
  assert.deepEqual([0, 60, 120, 255].map((value) => bytes(dark[value])), [[0, 0, 4, 255], [0, 0, 4, 255], [252, 253, 191, 255], [252, 253, 191, 255]]);
  const paper = palette({ low: 60, high: 120 }, true);
  assert.deepEqual([0, 255].map((value) => bytes(paper[value])), [[255, 255, 255, 255], [0, 0, 0, 255]]);
});

// MARK: Layout

test('each band is in exactly one row, and each column in one pixel', () => {
  for (const [width, height, shown] of [[300, 128, 128], [640, 100, 128], [1200, 400, 256], [2000, 90, 256], [1, 1, 1], [0, 0, 5]]) {
    const { pooled, width: pixels, height: rows, edges } = layout(width, height, shown);
    assert.ok(pixels * pooled >= shownColumns && (pixels - 1) * pooled < shownColumns, `${width}`);
    assert.ok(pixels <= Math.max(1, width) && rows === Math.max(1, Math.min(height, shown)));
    assert.deepEqual([edges.length, edges[0], edges.at(-1)], [rows + 1, shown, 0]);
    for (let row = 0; row < rows; row += 1) assert.ok(edges[row] > edges[row + 1], `${height}, ${shown}: row ${row}`);
  }
});

test('the axis ends at 12 kHz, and has round numbers', () => {
  assert.deepEqual([48000, 44100, 96000, 384000, 16000].map((rate) => bandsUpTo(12, rate)), [128, 140, 64, 16, 256]);
  assert.deepEqual(bandsUpTo(24, 48000), 256);
  assert.deepEqual([12, 24, 4, 192, 500].map(ticksUpTo), [[2, 4, 6, 8, 10], [5, 10, 15, 20], [1, 2, 3], [50, 100, 150], [100, 200, 300, 400]]);
});

// MARK: The picture

test('the history has the greatest value of all channels, for a minute', () => {
  const history = new ColumnHistory();
  const values = new Uint8Array(768).fill(9);
  values[256 + 7] = 70;
  values[512 + 8] = 80;
  history.add(5, values);
  history.add(6, new Uint8Array(256).fill(11));
  const column = new Uint8Array(256);
  assert.equal(history.pool(4, 2, column), true);
  assert.deepEqual([...column.subarray(6, 10)], [9, 70, 80, 9]);
  history.pool(5, 2, column);
  assert.deepEqual([...column.subarray(6, 10)], [11, 70, 80, 11]);
  history.add(5 + shownColumns, values);
  assert.equal(history.pool(5, 1, column), false);
  history.add(5, values);
  assert.equal(history.pool(5, 1, column), false);
});

/** A canvas with pixels, which counts what was drawn. */
function canvas() {
  const element = { width: 0, height: 0, pixels: new Uint32Array(0), put: 0 };
  const context = {
    globalCompositeOperation: 'source-over',
    clearRect: () => { element.pixels = new Uint32Array(element.width * element.height); },
    createImageData: (width, height) => ({ width, height, data: new Uint8ClampedArray(4 * width * height) }),
    putImageData({ width, height, data }, left, top) {
      assert.ok(left >= 0 && left + width <= element.width && top === 0 && height === element.height, `${left}, ${width} of ${element.width}`);
      const source = new Uint32Array(data.buffer);
      for (let y = 0; y < height; y += 1) element.pixels.set(source.subarray(y * width, (y + 1) * width), y * element.width + left);
      element.put += width;
    },
    drawImage(source, x, y) {
      assert.deepEqual([source, context.globalCompositeOperation, y, x < 0], [element, 'copy', 0, true]);
      const before = element.pixels;
      element.pixels = new Uint32Array(before.length);
      for (let row = 0; row < element.height; row += 1) {
        element.pixels.set(before.subarray(row * element.width - x, (row + 1) * element.width), row * element.width);
      }
    },
  };
  element.getContext = () => context;
  return element;
}

/** Draws until nothing is left. Returns the most pixel columns that were put at once. */
function finish(painter, element, now) {
  let most = 0;
  for (let isDue = true; isDue;) {
    const before = element.put;
    isDue = painter.draw(now);
    most = Math.max(most, element.put - before);
  }
  return most;
}

/** A column of noise with a line that rises from column to column. */
function column(number) {
  const values = Uint8Array.from({ length: 256 }, (_, band) => 60 + ((band * 7 + number * 13) % 9));
  values[number % 128] = 130;
  return values;
}

test('a picture that was moved is the same as one that is drawn at once, with gaps, and at any size', () => {
  for (const [width, height, shown] of [[1200, 128, 128], [500, 60, 128], [317, 256, 256]]) {
    const numbers = Array.from({ length: 3000 }, (_, index) => index + (index > 1700 ? 400 : 0) + (index > 2500 ? 5000 : 0));
    const moved = canvas();
    const painter = new SpectrumPainter(moved, false);
    painter.resize(width, height, shown);
    let now = 0;
    for (const [index, number] of numbers.entries()) {
      painter.add(number, column(number));
      if (index % 3 === 0) painter.draw(now);
      now += 50;
    }
    const most = finish(painter, moved, now + 2000);
    assert.ok(most <= 2 * mostPerFrame + 1, `${most} pixel columns in a frame`);
    const whole = canvas();
    const other = new SpectrumPainter(whole, false);
    other.resize(width, height, shown);
    for (const number of numbers.slice(-shownColumns)) other.add(number, column(number));
    finish(other, whole, 0);
    finish(other, whole, 2000);
    assert.deepEqual([moved.width, moved.height], [whole.width, whole.height]);
    assert.ok(whole.pixels.some((pixel) => pixel !== 0) && whole.pixels.some((pixel) => pixel === 0));
    assert.deepEqual(moved.pixels, whole.pixels, `${width} × ${height}`);
  }
});

test('a line is seen in its row, also where bands share a row', () => {
  for (const height of [128, 50]) {
    const element = canvas();
    const painter = new SpectrumPainter(element, false);
    painter.resize(1200, height, 128);
    const values = new Uint8Array(256).fill(60);
    values[32] = 130;
    for (let number = 0; number < 1200; number += 1) painter.add(number, values);
    finish(painter, element, 0);
    finish(painter, element, 2000);
    const lightest = Uint32Array.from({ length: height }, (_, row) => element.pixels[row * 1200 + 700]);
    const expected = Math.floor(height * (1 - 32.5 / 128));
    const white = palette({ low: 0, high: 1 }, false)[255];
    assert.deepEqual([...lightest].map((pixel, row) => [pixel, row]).filter(([pixel]) => pixel === white).map(([, row]) => row), [expected]);
  }
});

test('a steady picture costs one narrow strip a column, and other contrast is drawn in parts', () => {
  const element = canvas();
  const painter = new SpectrumPainter(element, false);
  painter.resize(1200, 128, 128);
  for (let number = 0; number < 1200; number += 1) painter.add(number, column(number));
  assert.ok(finish(painter, element, 0) <= 2 * mostPerFrame);
  finish(painter, element, 2000);
  const before = element.put;
  for (let number = 1200; number < 1300; number += 1) {
    painter.add(number, column(number));
    assert.equal(painter.draw(2500), false);
  }
  assert.equal(element.put - before, 100);
  // 40 dB louder.
  for (let number = 1300; number < 2500; number += 1) painter.add(number, column(number).map((value) => value + 40));
  assert.ok(finish(painter, element, 9000) <= 2 * mostPerFrame);
});

test('a new answer begins with an empty picture, and nothing is drawn without columns', () => {
  const element = canvas();
  const painter = new SpectrumPainter(element, false);
  painter.resize(600, 100, 128);
  assert.equal(painter.draw(0), false);
  painter.add(5000, column(1));
  finish(painter, element, 0);
  assert.ok(element.pixels.some((pixel) => pixel !== 0));
  painter.clear();
  assert.ok(element.pixels.every((pixel) => pixel === 0));
  painter.add(0, column(1));
  finish(painter, element, 5000);
  assert.notEqual(element.pixels.at(-1), 0);
});
