// The spectrogram of a take or of a day: its tiles, and its lane in a timeline.
import { refusalOf } from './api.js';
import { h, setText } from './dom.js';
import { lengthText, numberText } from './format.js';
import { drawRegions } from './marks.js';
import { colourTable, contrastOf, FrequencyScale, rowsOfLines, TilePainting } from './spectrum-paint.js';

// The spectrogram of a take or of a day in tiles of 512 columns, at powers of two of frames per column, as far as they are fetched.

const tileColumns = 512;
/** Columns of a tenth of a second or more come from a file of the kit. It computes finer ones from the sound. */
const fileColumnsPerSecond = 10;
/** At most about this many columns a second: windows overlap so far that more of them show nothing new. */
const mostColumnsPerSecond = 1500;
const headBytes = 32;
const mostTiles = 64;
const mostBytes = 2 ** 25;
const parallelRequests = 3;
/** A zoom passes through many levels. Only those where it rests this long, in milliseconds, are fetched. */
const restMilliseconds = 120;
/** `part` is for a tile that was computed in part. */
const againMilliseconds = { computing: 1000, part: 10_000, failed: 3000 };

/** Which tiles a take has. */
export class SpectrumLevels {
  constructor(frames, rate) {
    this.frames = Math.max(1, frames);
    this.rate = rate;
    /** The whole take is one tile, and in the two levels above it for narrow pictures. */
    this.top = Math.max(0, Math.ceil(Math.log2(this.frames / tileColumns)));
    this.coarsest = this.top + 2;
    this.finest = Math.min(this.top, Math.max(0, Math.floor(Math.log2(rate / mostColumnsPerSecond))));
  }

  /** The level for a picture. Its columns are at least as wide as a pixel, so that each of them is drawn. */
  level(framesPerPixel) {
    return Math.min(this.coarsest, Math.max(this.finest, Math.ceil(Math.log2(framesPerPixel))));
  }

  /** Whether the columns of a level come from the kit's file, whose windows have a fixed size. */
  isFromFile(level) { return 2 ** level >= this.rate / fileColumnsPerSecond; }

  /** The frames of each tile of a level but the last one. */
  span(level) { return tileColumns * 2 ** level; }

  /** The frames and the number of columns of a tile. The columns of the last tile are up to twice as wide as the others. */
  range(level, index) {
    const from = index * this.span(level);
    const to = Math.min(from + this.span(level), this.frames);
    return { from, to, columns: Math.max(1, Math.floor((to - from) / 2 ** level)) };
  }
}

/**
 * Reads an answer of `GET /api/takes/{take}/spectrum` or `GET /api/days/{day}/spectrum`.
 * @param {ArrayBuffer} buffer
 * @returns {{columns: number, rows: number, rate: number, window: number, values: Uint8Array}} Row after row from the lowest frequency; v is
 * v − 200 dB.
 */
export function readSpectrum(buffer) {
  const head = new DataView(buffer);
  const name = buffer.byteLength < headBytes ? '' : String.fromCharCode(...new Uint8Array(buffer, 0, 8));
  if (name !== 'FFSPECT1') throw new Error('a spectrogram of an unknown format');
  const [columns, rows, rate, window] = [8, 12, 16, 20].map((at) => head.getUint32(at, true));
  if (buffer.byteLength < headBytes + columns * rows) throw new Error('a spectrogram that was cut off');
  const source = new Uint8Array(buffer, headBytes);
  const values = new Uint8Array(columns * rows);
  for (let column = 0, at = 0; column < columns; column++) {
    for (let row = 0; row < rows; row++) values[row * columns + column] = source[at++];
  }
  return { columns, rows, rate, window, values };
}

/** Changes one tile into the greatest of two. */
function poolInto(tile, other) {
  for (let at = 0; at < tile.values.length; at++) {
    if (other.values[at] > tile.values[at]) tile.values[at] = other.values[at];
  }
}

/**
 * The pixels of a part of a tile, and the columns that they show.
 * @param {{from: number, to: number, columns: number}} tile
 * @param {{from: number, to: number}} part Frames within the tile.
 * @param {number} width Pixels of the picture.
 * @returns {{x: number, width: number, first: number, count: number}} `first` and `count` of the columns may have fractions.
 */
export function placeTile(tile, part, view, width) {
  const framesPerPixel = view.length / width;
  const framesPerColumn = (tile.to - tile.from) / tile.columns;
  const pixel = (frame) => Math.min(width, Math.max(0, Math.round((frame - view.from) / framesPerPixel)));
  const column = (x) => Math.min(tile.columns, Math.max(0, (view.from + x * framesPerPixel - tile.from) / framesPerColumn));
  const [left, right] = [pixel(part.from), pixel(part.to)];
  return { x: left, width: right - left, first: column(left), count: column(right) - column(left) };
}

/** A refusal that asking again does not change. */
class Refused extends Error {}
/** The kit computes the spectrogram of this take now. */
class Computing extends Error {
  constructor(share) {
    super();
    this.share = share;
  }
}

/** The addresses whose answers make up a tile of a take: one for each channel that is shown. */
function ofTake({ take, channels }) {
  const path = `/api/takes/${encodeURIComponent(take)}/spectrum`;
  return ({ from, to, columns }, { channel, size }) => {
    const shown = channel === null ? [...Array(channels).keys()] : [channel];
    return shown.map((one) => `${path}?from=${from}&to=${to}&columns=${columns}&channel=${one}${size ? `&size=${size}` : ''}`);
  };
}

/** The tiles of a take, or of what else has frames. A picture calls `begin`, `find` for each of its tiles, and `end`. */
export class SpectrumTiles {
  #tiles = new Map();
  #bytes = 0;
  #wanted = new Map();
  #running = new Map();
  /** By key, why a wanted tile is not there; those that are due may be asked for again. */
  #troubles = new Map();
  #timers = new Set();
  #restTimer = 0;
  #told = '';
  #settings = { channel: null, size: null };

  /**
   * @param {{take: string, frames: number, rate_hz: number, channels: number}} take
   * @param {object} options `onLoad(tile, isUpdate)` when more can be drawn, and whether a part of the tile had not been computed before;
   * `onState(state)` with `{ kind }` of `whole`, `loading`, `computing` (with its `share`) or `failed` (with its sentence `why`);
   * `addresses(range, { channel, size })` whose answers make up a tile, by default those of the take.
   */
  constructor(take, { onLoad, onState, addresses = ofTake(take) }) {
    Object.assign(this, { take, onLoad, onState, addresses });
    this.levels = new SpectrumLevels(take.frames, take.rate_hz);
  }

  /** Ends all requests. */
  close() {
    clearTimeout(this.#restTimer);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#wanted.clear();
    for (const abort of this.#running.values()) abort.abort();
    this.onLoad = () => {};
    this.onState = () => {};
  }

  /** Changes the `channel` (null is the greatest of all) or the `size` of the windows of close zooms (null is the kit's choice). */
  set(changes) {
    Object.assign(this.#settings, changes);
    this.#troubles.clear();
  }

  /** Forgets the requests of the previous picture. */
  begin() { this.#wanted.clear(); }

  /** The finest available tile for one of a level: its own, else one of a coarser level; null if there is none. */
  find(level, index) {
    this.#want(level, index);
    for (let up = level; up <= this.levels.coarsest; up++) {
      const key = this.#key(up, Math.floor(index / 2 ** (up - level)));
      const tile = this.#tiles.get(key);
      if (!tile) continue;
      // The map keeps the order of use, so the least recently used tile is dropped first.
      this.#tiles.delete(key);
      this.#tiles.set(key, tile);
      return tile;
    }
    this.#want(Math.max(level, this.levels.top), 0);
    return null;
  }

  /** Requests what the picture lacked, once the zoom rests. */
  end() {
    clearTimeout(this.#restTimer);
    if (this.#missing.length) this.#restTimer = setTimeout(() => this.#pump(), this.#tiles.size ? restMilliseconds : 0);
    this.#tell();
  }

  #key(level, index) {
    const { channel, size } = this.#settings;
    return [level, index, channel ?? 'all', this.levels.isFromFile(level) ? '' : size ?? ''].join('/');
  }

  #want(level, index) { this.#wanted.set(this.#key(level, index), { level, index }); }

  /** Whether the last picture has all its tiles, even if a part of one is not computed yet. */
  get isWhole() { return [...this.#wanted.keys()].every((key) => this.#tiles.has(key)); }

  get #missing() { return [...this.#wanted].filter(([key]) => !(this.#tiles.get(key)?.computed >= 1)); }

  #pump() {
    for (const [key, abort] of this.#running) {
      if (this.#wanted.has(key)) continue;
      this.#running.delete(key);
      abort.abort();
    }
    // A coarse tile stands for many fine ones, so it comes first.
    for (const [key, want] of this.#missing.sort(([, one], [, two]) => two.level - one.level)) {
      if (this.#running.size >= parallelRequests) break;
      if (!this.#running.has(key) && (this.#troubles.get(key)?.isDue ?? true)) this.#load(key, want);
    }
    this.#tell();
  }

  async #load(key, want) {
    const abort = new AbortController();
    this.#running.set(key, abort);
    try {
      const tile = { key, ...want, ...await this.#fetchTile(want, abort.signal) };
      const isUpdate = this.#tiles.has(key);
      this.#keep(key, tile);
      this.#troubles.delete(key);
      if (tile.computed < 1) this.#postpone(key, new Computing(tile.computed), againMilliseconds.part);
      this.onLoad(tile, isUpdate);
    } catch (error) {
      if (!abort.signal.aborted) this.#postpone(key, error);
    }
    if (this.#running.get(key) === abort) this.#running.delete(key);
    this.#pump();
  }

  async #fetchTile({ level, index }, signal) {
    const { channel, size } = this.#settings;
    const range = this.levels.range(level, index);
    let tile = null;
    for (const address of this.addresses(range, { channel, size: this.levels.isFromFile(level) ? null : size })) {
      const part = await this.#request(address, signal);
      if (tile) poolInto(tile, part);
      else tile = { ...part, from: range.from, to: range.to };
    }
    // The samples in a column. The frames of a day are not those of its sound.
    const samples = ((tile.to - tile.from) / tile.columns) * (tile.rate / this.take.rate_hz);
    return { ...tile, samples };
  }

  async #request(address, signal) {
    // The browser's own sentence is in the browser's language.
    const response = await fetch(address, { signal }).catch((error) => {
      throw signal.aborted ? error : new Error('');
    });
    if (response.status === 202) throw new Computing((await response.json()).computed);
    const computed = Number(response.headers.get('Fieldfare-Computed') ?? 1);
    if (response.ok) return { ...readSpectrum(await response.arrayBuffer()), computed };
    const { message: why } = await refusalOf(response);
    throw response.status < 500 ? new Refused(why) : new Error(why);
  }

  #keep(key, tile) {
    this.#bytes += tile.values.length - (this.#tiles.get(key)?.values.length ?? 0);
    this.#tiles.delete(key);
    this.#tiles.set(key, tile);
    for (const [oldest, { values }] of this.#tiles) {
      if (oldest === key || (this.#tiles.size <= mostTiles && this.#bytes <= mostBytes)) break;
      this.#tiles.delete(oldest);
      this.#bytes -= values.length;
    }
  }

  #postpone(key, error, rest = null) {
    const kind = error instanceof Computing ? 'computing' : 'failed';
    const trouble = { kind, share: error.share, why: error.message, isDue: false };
    this.#troubles.set(key, trouble);
    if (error instanceof Refused) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      trouble.isDue = true;
      this.#pump();
    }, rest ?? againMilliseconds[kind]);
    this.#timers.add(timer);
  }

  #tell() {
    const missing = this.#missing;
    const trouble = missing.map(([key]) => this.#troubles.get(key)).find(Boolean);
    const { kind, share, why } = trouble ?? { kind: missing.length ? 'loading' : 'whole' };
    const told = [kind, share, why].join();
    if (told === this.#told) return;
    this.#told = told;
    this.onState({ kind, share, why });
  }
}

// The lane of a timeline with the spectrogram of a take or of a day.

/** Painting takes at most about this much of a frame, in milliseconds. It continues in the next one. */
const paintMilliseconds = 4;
const linesAtOnce = 32;
const mostPictures = 24;
/** A step of the contrast changes the range of the colours by this factor. */
const contrastStep = 2 ** -0.2;

/** A spectrogram, in its own painted tiles. */
export class SpectrumLane {
  name = 'spectrum';
  height = 'clamp(8rem, 27vh, 22rem)';
  /** Markers of the take; regions are drawn. */
  places = [];
  #pictures = new Map();
  /** `provisional` until all of the first picture is there, so that the contrast is then steady. */
  #contrast = { kind: 'provisional', floors: new Uint8Array(256).fill(100), range: 50 };

  /**
   * @param {{take: string, frames: number, rate_hz: number, channels: number}} take
   * @param {object} options `t`, `onLoad()` when more can be drawn, `addresses` of `SpectrumTiles`; `timeText(frame)`.
   * `rate` is that of the sound, by default that of the frames, and `onRate(rate)` is called when the sound has another one.
   */
  constructor(take, {
    t, onLoad, addresses, rate = take.rate_hz, onRate = () => {}, timeText = (frame) => lengthText(frame / take.rate_hz, 2),
  }) {
    Object.assign(this, { take, t, onLoad, rate, onRate, timeText });
    this.settings = { low: 0, high: rate / 2, isLogarithmic: false, contrast: 0 };
    this.scale = new FrequencyScale(0, rate / 2, false);
    /** What the picture lacks. */
    this.state = h('p', { class: 'spectrum-state', role: 'status' });
    this.tiles = new SpectrumTiles(take, {
      onLoad: (tile, isUpdate) => this.#loaded(tile, isUpdate), onState: (state) => this.#showState(state), addresses,
    });
  }

  close() { this.tiles.close(); }

  /** Changes some of `low` and `high` in hertz, `isLogarithmic`, `contrast` (in steps), `channel` and `size` (see `SpectrumTiles`). */
  set(changes) {
    Object.assign(this.settings, changes);
    const { low, high, isLogarithmic } = this.settings;
    this.scale = new FrequencyScale(low, high, isLogarithmic);
    if ('channel' in changes || 'size' in changes) this.tiles.set(changes);
    this.onLoad();
  }

  #loaded({ rate }, isUpdate) {
    // The contrast was taken from less sound.
    if (isUpdate) this.adapt();
    if (rate !== this.rate) {
      this.rate = rate;
      this.onRate(rate);
    }
    this.onLoad();
  }

  #showState({ kind, share, why }) {
    const { t } = this;
    this.canvas.setAttribute('aria-busy', String(kind === 'loading' || kind === 'computing'));
    setText(this.state, kind === 'computing' || kind === 'failed'
      ? t(`spectrum.${kind}`, { percent: numberText(100 * share), why: why || t('connection.unread') }) : '');
  }

  /** Adapts the contrast to what is visible. */
  adapt() {
    this.#contrast = { ...this.#contrast, kind: 'provisional' };
    this.onLoad();
  }

  describe(view) {
    return this.t('spectrum.picture', {
      from: this.timeText(view.from), to: this.timeText(view.to),
      low: numberText(this.scale.low / 1000, 2), high: numberText(this.scale.high / 1000, 2),
    });
  }

  draw(context, box, view, colours) {
    const parts = this.#find(box, view);
    this.#adapt(parts);
    const range = this.#contrast.range * contrastStep ** this.settings.contrast;
    const table = colourTable(colours.map, range);
    const [red, green, blue] = new Uint8Array(table.buffer, 0, 3);
    context.fillStyle = `rgb(${red} ${green} ${blue})`;
    context.fillRect(0, 0, box.width, box.height);
    context.imageSmoothingEnabled = false;
    const look = {
      height: box.height, shape: [box.height, ...Object.values(this.scale)].join(),
      table, colours: [colours.map, range].join(), floors: this.#contrast.floors,
    };
    const deadline = performance.now() + paintMilliseconds;
    for (const { tile, place } of parts) {
      const picture = this.#picture(tile, look, deadline);
      if (picture) context.drawImage(picture, place.first, 0, place.count, box.height, place.x, 0, place.width, box.height);
    }
    drawRegions(context, box, view, this.places, this.scale, colours);
    this.#drawAxis(context, box, colours);
  }

  /** The tiles in view, with their places. */
  #find(box, view) {
    const { tiles } = this;
    const { levels } = tiles;
    const level = levels.level(view.length / box.width);
    const span = levels.span(level);
    const parts = [];
    tiles.begin();
    for (let index = Math.floor(view.from / span); index * span < Math.min(view.to, levels.frames); index++) {
      const tile = tiles.find(level, index);
      if (!tile) continue;
      const place = placeTile(tile, levels.range(level, index), view, box.width);
      if (place.width > 0 && place.count > 0) parts.push({ tile, place });
    }
    tiles.end();
    return parts;
  }

  #adapt(parts) {
    if (this.#contrast.kind !== 'provisional' || !parts.length) return;
    const visible = parts.map(({ tile, place: { first, count } }) => ({ tile, first: Math.floor(first), last: Math.ceil(first + count) }));
    this.#contrast = { kind: this.tiles.isWhole ? 'steady' : 'provisional', ...contrastOf(visible) };
  }

  /** The painted tile. One with another contrast stands for it while it is being painted. */
  #picture(tile, look, deadline) {
    const held = this.#pictures.get(tile) ?? { canvas: null, shown: null, next: null };
    // The map keeps the order of use.
    this.#pictures.delete(tile);
    this.#pictures.set(tile, held);
    if (this.#pictures.size > mostPictures) this.#pictures.delete(this.#pictures.keys().next().value);
    if (!isSame(held.shown, look)) this.#paint(tile, held, look, deadline);
    return held.shown?.shape === look.shape ? held.canvas : null;
  }

  #paint(tile, held, look, deadline) {
    if (!isSame(held.next?.look, look)) {
      const lines = rowsOfLines(this.scale, look.height, tile.rows, tile.rate / 2);
      held.next = { look, painting: new TilePainting(tile, lines, look.floors, look.table) };
    }
    const { painting } = held.next;
    while (!painting.isDone && performance.now() < deadline) painting.proceed(linesAtOnce);
    if (!painting.isDone) {
      this.onLoad();
      return;
    }
    held.canvas ??= document.createElement('canvas');
    Object.assign(held.canvas, { width: tile.columns, height: look.height });
    const image = new ImageData(new Uint8ClampedArray(painting.pixels.buffer), tile.columns, look.height);
    held.canvas.getContext('2d').putImageData(image, 0, 0);
    held.shown = look;
    held.next = null;
  }

  /** The frequencies at the left edge, in kHz; the highest one has the unit. */
  #drawAxis(context, box, colours) {
    const { text, scale, height } = box;
    context.font = `600 ${text}px ${colours.font}`;
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.lineWidth = 3 * scale;
    context.strokeStyle = colours.halo;
    context.fillStyle = colours.ink;
    let free = height;
    const labels = this.scale.ticks(height / (2.2 * text))
      .map((hertz) => ({ hertz, y: Math.round(height * (1 - this.scale.share(hertz))) }))
      .filter(({ y }) => {
        const isFree = y < free - 0.6 * text && y > 0.7 * text;
        if (isFree) free = y - text;
        return isFree;
      });
    labels.forEach(({ hertz, y }, index) => {
      const label = `${numberText(hertz / 1000, 3)}${index === labels.length - 1 ? ' kHz' : ''}`;
      context.strokeText(label, 0.6 * text, y);
      context.fillText(label, 0.6 * text, y);
      context.fillRect(0, y, 0.4 * text, scale);
    });
  }
}

function isSame(one, other) { return one?.shape === other.shape && one.colours === other.colours && one.floors === other.floors; }
