// The live spectrogram, scrolling from right to left under the waveform.
import { shownSeconds } from './deck-parts.js';
import { button, h, setText } from './dom.js';
import { numberText } from './format.js';
import { colourTable, levels } from './spectrum-paint.js';

const bands = 256;
const columnsPerSecond = 20;
export const shownColumns = shownSeconds * columnsPerSecond;
/** The upper end of the axis, unless all frequencies are shown. */
const usualKilohertz = 12;
/** The most columns in one frame of the screen. */
export const mostPerFrame = 60;
const contrastMilliseconds = 1000;
const leastContrastChange = 3;
const headBytes = 32;

/** The last choice applies when the deck is opened again. */
const chosen = { isAll: false };

/** Reads an answer of GET /api/spectrum/live from pieces of any size. */
export class SpectrumReader {
  #rest = new Uint8Array(0);
  /** `{ channels, rate, first }`, or null before it has arrived. */
  head = null;

  /** Returns the records that are now complete: `{ frame, values }` with 256 values of each channel. */
  read(piece) {
    const bytes = new Uint8Array(this.#rest.length + piece.length);
    bytes.set(this.#rest);
    bytes.set(piece, this.#rest.length);
    const view = new DataView(bytes.buffer);
    let at = 0;
    if (!this.head && bytes.length >= headBytes) {
      this.head = readHead(view);
      at = headBytes;
    }
    const records = [];
    const size = 8 + bands * (this.head?.channels ?? Infinity);
    for (; at + size <= bytes.length; at += size) {
      records.push({ frame: Number(view.getBigInt64(at, true)), values: bytes.subarray(at + 8, at + size) });
    }
    this.#rest = bytes.slice(at);
    return records;
  }
}

function readHead(view) {
  const name = String.fromCharCode(...new Uint8Array(view.buffer, 0, 8));
  const [channels, rows, rate] = [8, 12, 16].map((at) => view.getUint32(at, true));
  if (name !== 'FFSPECT1' || rows !== bands || !channels || !rate) throw new Error('This is no live spectrogram.');
  return { channels, rate, first: Number(view.getBigInt64(24, true)) };
}

/**
 * Requests the spectrogram, and again a second after each end, until the signal is aborted or the kit forbids it.
 * @param {AbortSignal} signal
 * @param {{onHead: (head: object) => void, onRecords: (records: object[]) => void, onNone: () => void}} handlers `onNone` is called when
 * the kit sends no sound.
 * @param {number} pause In milliseconds.
 */
export async function follow(signal, { onHead, onRecords, onNone }, pause = 1000) {
  while (!signal.aborted) {
    const response = await fetch('/api/spectrum/live', { signal, cache: 'no-store' }).catch(() => null);
    if (signal.aborted) return;
    if (response?.ok) {
      await receive(response.body.getReader(), onHead, onRecords).catch(() => {});
    } else if (response) {
      response.body?.cancel().catch(() => {});
      onNone();
      if (response.status === 401 || response.status === 403) return;
    }
    await new Promise((done) => { setTimeout(done, pause); });
  }
}

async function receive(source, onHead, onRecords) {
  const reader = new SpectrumReader();
  try {
    for (;;) {
      const { value, done } = await source.read();
      if (done) return;
      const isNew = !reader.head;
      const records = reader.read(value);
      if (isNew && reader.head) onHead(reader.head);
      if (records.length) onRecords(records);
    }
  } finally {
    source.cancel().catch(() => {});
  }
}

/** The latest columns, by their numbers. A column has the greatest value of all channels in each band. */
export class ColumnHistory {
  #values = new Uint8Array(shownColumns * bands);
  #numbers = new Float64Array(shownColumns).fill(-1);
  newest = -1;

  add(number, values) {
    if (number < 0 || number <= this.newest - shownColumns) return;
    const place = number % shownColumns;
    const column = this.#values.subarray(place * bands, (place + 1) * bands);
    column.set(values.subarray(0, bands));
    for (let at = bands; at < values.length; at += 1) column[at % bands] = Math.max(column[at % bands], values[at]);
    this.#numbers[place] = number;
    this.newest = Math.max(this.newest, number);
  }

  /** Puts the greatest of some columns into `target`. Returns whether there are any. */
  pool(from, count, target) {
    let isThere = false;
    target.fill(0);
    for (let number = Math.max(0, from); number < from + count; number += 1) {
      const place = number % shownColumns;
      if (this.#numbers[place] !== number) continue;
      isThere = true;
      for (let band = 0; band < bands; band += 1) target[band] = Math.max(target[band], this.#values[place * bands + band]);
    }
    return isThere;
  }

  /** The values of every fourth column up to a band. */
  sample(shownBands) {
    const values = new Uint8Array((shownColumns / 4) * shownBands);
    let count = 0;
    for (let place = 0; place < shownColumns; place += 4) {
      if (this.#numbers[place] < 0) continue;
      values.set(this.#values.subarray(place * bands, place * bands + shownBands), count);
      count += shownBands;
    }
    return values.subarray(0, count);
  }
}

/** The number of bands from 0 up to a frequency. */
export function bandsUpTo(kilohertz, rate) {
  return Math.max(1, Math.min(bands, Math.ceil((kilohertz * 2000 * bands) / rate)));
}

/**
 * The size of the canvas, for a place of the screen in its pixels. A pixel shows the greatest of `pooled` columns, and of the bands
 * from `edges[row + 1]` up to `edges[row]`. Row 0 is the upper one.
 */
export function layout(width, height, shownBands) {
  const pooled = Math.max(1, Math.ceil(shownColumns / Math.max(1, width)));
  const rows = Math.max(1, Math.min(shownBands, height));
  return {
    pooled, width: Math.ceil(shownColumns / pooled), height: rows,
    edges: Array.from({ length: rows + 1 }, (_, row) => Math.round(((rows - row) * shownBands) / rows)),
  };
}

/** A colour for each value, as the bytes of a pixel on a little-endian machine. */
export function palette({ low, high }, isInverted) {
  const table = colourTable(isInverted ? 'paper' : 'night', high - low);
  return Uint32Array.from({ length: 256 }, (_, value) => table[Math.max(0, Math.min(255, value - low))]);
}

/** Draws columns, a part of them in each frame of the screen. What was drawn is moved, and not drawn again. */
export class SpectrumPainter {
  #history = new ColumnHistory();
  #pending = [];
  #column = new Uint8Array(bands);
  #contrast = { low: -Infinity, high: -Infinity };
  #colours = null;
  #adjusted = -Infinity;
  #layout = layout(1, 1, bands);
  #shownBands = bands;
  /** The number of the right pixel column; -1 if the canvas is empty. Columns are counted from 0. */
  #right = -1;
  /** Pixel columns up to this one have old colours, or are not drawn. */
  #stale = -1;

  constructor(canvas, isInverted) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.isInverted = isInverted;
  }

  /** Forgets all columns. */
  clear() {
    this.#history = new ColumnHistory();
    this.#pending = [];
    this.#adjusted = -Infinity;
    this.#empty();
  }

  /** Sets the size of the canvas's place on the screen, and the number of shown bands. */
  resize(width, height, shownBands) {
    this.#shownBands = shownBands;
    this.#layout = layout(width, height, shownBands);
    this.canvas.width = this.#layout.width;
    this.canvas.height = this.#layout.height;
    this.#adjusted = -Infinity;
    this.#empty();
  }

  add(number, values) {
    this.#pending.push({ number, values });
    if (this.#pending.length > shownColumns) this.#pending.shift();
  }

  /** Draws a part of what is due. Returns whether something is left. */
  draw(now) {
    const added = this.#pending.splice(0, mostPerFrame);
    for (const { number, values } of added) this.#history.add(number, values);
    if (this.#history.newest < 0) return false;
    const { pooled, width } = this.#layout;
    this.#adjust(now);
    const right = Math.floor(this.#history.newest / pooled);
    this.#move(right);
    const left = Math.max(0, right - width + 1);
    if (added.length) this.#paint(Math.max(left, Math.floor(added[0].number / pooled)), right);
    const stale = Math.min(this.#stale, right);
    if (stale >= left) this.#paint(Math.max(left, stale - mostPerFrame + 1), stale);
    this.#stale = stale - mostPerFrame >= left ? stale - mostPerFrame : -1;
    return this.#pending.length > 0 || this.#stale >= 0;
  }

  #empty() {
    this.context.clearRect(0, 0, this.#layout.width, this.#layout.height);
    this.#right = -1;
    this.#stale = Infinity;
  }

  /** Follows the contrast of the picture once it differs visibly. */
  #adjust(now) {
    if (now - this.#adjusted < contrastMilliseconds) return;
    this.#adjusted = now;
    const found = levels(this.#history.sample(this.#shownBands));
    const change = Math.max(Math.abs(found.low - this.#contrast.low), Math.abs(found.high - this.#contrast.high));
    if (change < leastContrastChange) return;
    this.#contrast = found;
    this.#colours = palette(found, this.isInverted);
    this.#stale = Infinity;
  }

  /** Moves the picture to the left until `right` is the number of its last pixel column. */
  #move(right) {
    const { width, height } = this.#layout;
    const distance = this.#right < 0 ? width : right - this.#right;
    this.#right = right;
    if (distance <= 0) return;
    if (distance >= width) {
      this.context.clearRect(0, 0, width, height);
      return;
    }
    // This also empties the place of the new columns.
    this.context.globalCompositeOperation = 'copy';
    this.context.drawImage(this.canvas, -distance, 0);
    this.context.globalCompositeOperation = 'source-over';
  }

  /** Draws pixel columns. */
  #paint(from, to) {
    const { pooled, width, height, edges } = this.#layout;
    const count = to - from + 1;
    if (count <= 0) return;
    const image = this.context.createImageData(count, height);
    const pixels = new Uint32Array(image.data.buffer);
    const column = this.#column;
    for (let x = 0; x < count; x += 1) {
      if (!this.#history.pool((from + x) * pooled, pooled, column)) continue;
      for (let row = 0; row < height; row += 1) {
        let greatest = 0;
        for (let band = edges[row + 1]; band < edges[row]; band += 1) greatest = Math.max(greatest, column[band]);
        pixels[row * count + x] = this.#colours[greatest];
      }
    }
    this.context.putImageData(image, width - 1 - this.#right + from, 0);
  }
}

/** The spectrogram with its axes. Without sound it is hidden, and says so. */
export class LiveSpectrum {
  #run = null;
  #head = null;
  #frame = 0;
  #drawn = -Infinity;
  #isStill = matchMedia('(prefers-reduced-motion: reduce)');

  constructor({ t }) {
    this.t = t;
    this.canvas = h('canvas', { class: 'live', role: 'img' });
    this.ticks = h('div', { class: 'spectrum-ticks', 'aria-hidden': 'true' });
    this.all = button(t('deck.spectrum.all'), () => this.#toggle(), { class: 'spectrum-all' });
    this.lane = h('div', { class: 'spectrum-live', hidden: true }, h('div', { class: 'spectrum-picture' }, this.canvas, this.ticks),
      h('div', { class: 'spectrum-foot' }, h('span', {}, `−${shownSeconds} s`), this.all, h('span', {}, t('deck.spectrum.now'))));
    this.state = h('p', { class: 'listening dim', role: 'status' });
    this.element = h('div', {}, this.lane, this.state);
    this.painter = new SpectrumPainter(this.canvas, document.documentElement.dataset.theme === 'sun');
    this.resized = new ResizeObserver(() => this.#resize());
  }

  /** Begins, once the element is in the page. It requests nothing while the page is hidden. */
  start() {
    document.addEventListener('visibilitychange', this.#look);
    this.resized.observe(this.canvas);
    this.#look();
  }

  close() {
    document.removeEventListener('visibilitychange', this.#look);
    this.resized.disconnect();
    this.#end();
  }

  #look = () => {
    if (document.visibilityState !== 'visible') this.#end();
    else if (!this.#run) this.#begin();
  };

  #begin() {
    this.#run = new AbortController();
    follow(this.#run.signal, {
      onHead: (head) => this.#show(head), onRecords: (records) => this.#add(records), onNone: () => this.#hide(),
    });
  }

  /** Requests it again, because a lost network may have left a request without an end. */
  again() {
    this.#end();
    this.#look();
  }

  #end() {
    this.#run?.abort();
    this.#run = null;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  #show(head) {
    this.#head = head;
    this.lane.hidden = false;
    this.state.textContent = '';
    this.painter.clear();
    this.#resize();
  }

  #hide() {
    this.lane.hidden = true;
    const text = this.t('deck.spectrum.none');
    setText(this.state, text);
  }

  #add(records) {
    const { first, rate } = this.#head;
    for (const { frame, values } of records) this.painter.add(Math.round(((frame - first) * columnsPerSecond) / rate), values);
    this.#drawSoon();
  }

  #drawSoon() {
    if (this.#frame || (this.#isStill.matches && performance.now() - this.#drawn < 1000)) return;
    this.#frame = requestAnimationFrame((now) => {
      this.#frame = 0;
      this.#drawn = now;
      if (!this.painter.draw(now)) return;
      // Where motion is unwanted, the picture changes once a second, and then as a whole.
      if (this.#isStill.matches) while (this.painter.draw(now));
      else this.#drawSoon();
    });
  }

  #toggle() {
    chosen.isAll = !chosen.isAll;
    this.#resize();
  }

  #resize() {
    if (!this.#head || this.lane.hidden) return;
    const { canvas, t } = this;
    const most = this.#head.rate / 2000;
    const top = chosen.isAll ? most : Math.min(usualKilohertz, most);
    const scale = devicePixelRatio;
    const shownBands = bandsUpTo(top, this.#head.rate);
    this.painter.resize(Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale), shownBands);
    canvas.setAttribute('aria-label', t('deck.spectrum', { top: Math.round(top) }));
    this.all.hidden = most <= usualKilohertz;
    this.all.setAttribute('aria-pressed', String(chosen.isAll));
    this.#showTicks((shownBands / bands) * most);
    this.#drawSoon();
  }

  #showTicks(top) {
    const ticks = ticksUpTo(top);
    this.ticks.replaceChildren(...ticks.map((kilohertz) => {
      const tick = h('span', {}, kilohertz === ticks.at(-1) ? `${numberText(kilohertz, 3)} kHz` : numberText(kilohertz, 3));
      tick.style.bottom = `${(100 * kilohertz) / top}%`;
      return tick;
    }));
  }
}

/** At most five numbers on the axis, in kilohertz. None is at its end. */
export function ticksUpTo(top) {
  const step = [0.5, 1, 2, 5, 10, 20, 50, 100].find((kilohertz) => top / kilohertz <= 6) ?? 200;
  return Array.from({ length: Math.max(0, Math.ceil((0.95 * top) / step) - 1) }, (_, index) => (index + 1) * step);
}
