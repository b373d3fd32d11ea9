// The waveform of a take: zoom, peaks at each zoom level, their drawing, lanes, and small pictures in lists.
import { lengthText } from './format.js';
import { drawAxis, drawPlaces, drawRanges } from './marks.js';
import { readWAV } from './wav.js';

// The zoom model of a take, its peaks at each zoom level, and the drawing of both.

/** The fewest frames that fill the picture. */
const fewestFrames = 24;
const tilePixels = 1024;
const mostTiles = 240;
const headerBytes = 24;
const parallelRequests = 4;
/** The picture is drawn again this long after a request has failed, in milliseconds. */
const againMilliseconds = 3000;

/** The visible range of a take, in frames. Fractions are allowed for a smooth zoom. */
export class View {
  /** @param {number} frames The length of the take. */
  constructor(frames) {
    this.frames = Math.max(frames, fewestFrames);
    this.from = 0;
    this.to = this.frames;
  }

  /** The number of visible frames. */
  get length() { return this.to - this.from; }

  /** Shows a range, moved or widened so that it fits into the take. */
  show(from, to) {
    const length = Math.min(Math.max(to - from, fewestFrames), this.frames);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - length / 2, 0), this.frames - length);
    this.to = this.from + length;
  }

  /**
   * Changes the length by `factor`; the frame `anchor` keeps its place in the picture.
   * @param {number} factor Below 1 zooms in.
   */
  zoom(factor, anchor) {
    const length = Math.min(Math.max(this.length * factor, fewestFrames), this.frames);
    const share = (anchor - this.from) / this.length;
    this.show(anchor - share * length, anchor + (1 - share) * length);
  }

  /** Moves the range by some frames. */
  pan(frames) {
    const moved = Math.min(Math.max(frames, -this.from), this.frames - this.to);
    this.from += moved;
    this.to += moved;
  }

  /** Brings a frame into view; no change if the frame is visible. */
  follow(frame) {
    if (frame >= this.from && frame < this.to) return false;
    this.pan(frame - this.from - this.length * 0.1);
    return true;
  }
}

/**
 * Peaks in audiowaveform's format, version 2, 8 bit.
 * @param {ArrayBuffer} buffer
 * @returns {{channels: number, length: number, data: Int8Array}} Minimum and maximum of each channel, pixel after pixel.
 */
export function readPeaks(buffer) {
  const view = new DataView(buffer);
  if (view.byteLength < headerBytes || view.getInt32(0, true) !== 2 || view.getUint32(4, true) !== 1) {
    throw new Error('peaks of an unknown format');
  }
  const channels = view.getInt32(20, true);
  const length = Math.min(view.getUint32(16, true), Math.floor((buffer.byteLength - headerBytes) / (2 * channels)));
  return { channels, length, data: new Int8Array(buffer, headerBytes, length * channels * 2) };
}

/** The peaks of a take in tiles of 1024 pixels, at powers of two of frames per pixel; and single samples at high zoom. */
export class Peaks {
  #tiles = new Map();
  #wanted = new Map();
  #running = new Set();
  #timer = 0;
  #samples = null;
  #abort = new AbortController();

  /**
   * @param {string} stem
   * @param {number} frames The length of the take.
   * @param {() => void} onLoad Called when more can be drawn.
   */
  constructor(stem, frames, onLoad) {
    this.path = `/api/takes/${encodeURIComponent(stem)}`;
    this.frames = frames;
    this.onLoad = onLoad;
    this.top = Math.max(0, Math.ceil(Math.log2(frames / tilePixels)));
  }

  /** Ends all requests. */
  close() {
    clearTimeout(this.#timer);
    this.#wanted.clear();
    this.#abort.abort();
  }

  /** The level whose pixels are at most as wide as those of the picture. */
  level(framesPerPixel) {
    return Math.min(this.top, Math.max(0, Math.floor(Math.log2(framesPerPixel))));
  }

  /** The number of loaded tiles that a picture of the whole take may use. */
  coarseCount = 0;

  /** Forgets the requests of the previous picture. */
  begin() { this.#wanted.clear(); }

  /**
   * The finest available peaks for a tile of a level: its own, else those of a coarser level. Requests its own if they are missing.
   * @returns {{level: number, tile: object, first: number} | null} `first` is the first frame of the tile.
   */
  find(level, index) {
    this.#want(level, index);
    for (let up = level; up <= this.top; up++) {
      const above = Math.floor(index / 2 ** (up - level));
      const key = `${up}/${above}`;
      const tile = this.#tiles.get(key);
      if (!tile) continue;
      // The map keeps the order of use, so the least recently used tile is dropped first.
      this.#tiles.delete(key);
      this.#tiles.set(key, tile);
      return { level: up, tile, first: above * tilePixels * 2 ** up };
    }
    this.#want(this.top, 0);
    return null;
  }

  #want(level, index) {
    const key = `${level}/${index}`;
    if (this.#tiles.has(key) || this.#wanted.has(key)) return;
    this.#wanted.set(key, { level, index });
    // A zoom passes through many levels. Only those where it rests are fetched.
    this.#timer ||= setTimeout(() => this.#pump(), this.#tiles.size ? 70 : 0);
  }

  #pump() {
    this.#timer = 0;
    for (const [key, want] of this.#wanted) {
      if (this.#running.size >= parallelRequests) return;
      if (this.#running.has(key) || this.#tiles.has(key)) continue;
      this.#running.add(key);
      this.#fetchTile(key, want).finally(() => {
        this.#running.delete(key);
        this.#pump();
      });
    }
  }

  async #fetchTile(key, { level, index }) {
    const step = 2 ** level;
    const from = index * tilePixels * step;
    const to = Math.min(from + tilePixels * step, this.frames);
    try {
      const buffer = await this.#get(`waveform.dat?frames_per_pixel=${step}&from=${from}&to=${to}`);
      this.#tiles.set(key, readPeaks(buffer));
      if (level >= this.top - 2) this.coarseCount += 1;
      if (this.#tiles.size > mostTiles) this.#tiles.delete(this.#tiles.keys().next().value);
      this.onLoad();
    } catch (error) {
      this.#wanted.delete(key);
      this.#drawAgain(error);
    }
  }

  /** The next picture requests again what failed, unless the kit refuses it. */
  #drawAgain({ status = 500 }) {
    if (status >= 500) setTimeout(() => { if (!this.#abort.signal.aborted) this.onLoad(); }, againMilliseconds);
  }

  async #get(rest) {
    const response = await fetch(`${this.path}/${rest}`, { signal: this.#abort.signal });
    if (!response.ok) throw Object.assign(new Error(`${response.status}`), { status: response.status });
    return response.arrayBuffer();
  }

  /**
   * The samples around a range, or null while they are being fetched.
   * @returns {{from: number, channels: Float32Array[]} | null}
   */
  samples(from, to) {
    const held = this.#samples;
    if (held && held.from <= from && held.to >= Math.min(to, this.frames)) return held.channels && held;
    const margin = 4096;
    const block = { from: Math.max(0, Math.floor(from) - margin), to: Math.min(this.frames, Math.ceil(to) + margin) };
    this.#samples = block;
    this.#get(`clip?from=${block.from}&to=${block.to}&format=wav`).then((buffer) => {
      block.channels = readWAV(buffer).channels;
      this.onLoad();
    }).catch((error) => {
      if (this.#samples !== block) return;
      this.#samples = null;
      this.#drawAgain(error);
    });
    return null;
  }
}

/**
 * Draws the visible sound, one lane for each channel.
 * @param {CanvasRenderingContext2D} context
 * @param {{x: number, y: number, width: number, height: number}} box In the units of the context.
 * @param {number} channels
 * @param {{wave: string, line: string}} colours
 * @param {number} gain The vertical scale; the drawing is clipped at the lane's edge.
 */
export function drawSound(context, box, view, peaks, channels, colours, gain = 1) {
  const framesPerPixel = view.length / box.width;
  const lane = box.height / channels;
  context.fillStyle = colours.line;
  for (let channel = 0; channel < channels; channel++) {
    context.fillRect(box.x, Math.round(box.y + lane * (channel + 0.5)), box.width, 1);
  }
  const samples = framesPerPixel < 1 ? peaks.samples(view.from - 1, view.to + 1) : null;
  if (samples) drawSamples(context, box, view, samples, colours.wave, gain);
  else drawPeaks(context, box, view, peaks, channels, colours.wave, gain);
}

function drawPeaks(context, box, view, peaks, channels, colour, gain) {
  const framesPerPixel = view.length / box.width;
  const level = peaks.level(framesPerPixel);
  const span = tilePixels * 2 ** level;
  const lane = box.height / channels;
  context.fillStyle = colour;
  for (let index = Math.floor(view.from / span); index * span < view.to; index++) {
    const found = peaks.find(level, index);
    if (!found) continue;
    const left = Math.max(0, Math.floor((index * span - view.from) / framesPerPixel));
    const right = Math.min(box.width, Math.ceil(((index + 1) * span - view.from) / framesPerPixel));
    for (let x = left; x < right; x++) {
      const from = view.from + x * framesPerPixel;
      drawColumn(context, box.x + x, box.y, lane, found, from, from + framesPerPixel, gain);
    }
  }
}

function drawColumn(context, x, y, lane, { level, tile, first }, from, to, gain) {
  const step = 2 ** level;
  const start = Math.min(tile.length - 1, Math.max(0, Math.floor((from - first) / step)));
  const end = Math.min(tile.length, Math.max(start + 1, Math.floor((to - first) / step)));
  if (from - first >= tile.length * step) return;
  for (let channel = 0; channel < tile.channels; channel++) {
    let least = 127;
    let greatest = -128;
    for (let pixel = start; pixel < end; pixel++) {
      const at = (pixel * tile.channels + channel) * 2;
      if (tile.data[at] < least) least = tile.data[at];
      if (tile.data[at + 1] > greatest) greatest = tile.data[at + 1];
    }
    const half = (lane / 2) * 0.94;
    const middle = y + lane * (channel + 0.5);
    const top = middle - limited((greatest / 128) * gain) * half;
    context.fillRect(x, top, 1, Math.max(1, middle - limited((least / 128) * gain) * half - top));
  }
}

function limited(value) { return Math.min(1, Math.max(-1, value)); }

function drawSamples(context, box, view, samples, colour, gain) {
  const pixelsPerFrame = box.width / view.length;
  const lane = box.height / samples.channels.length;
  const start = Math.max(0, Math.floor(view.from - samples.from) - 1);
  samples.channels.forEach((channel, index) => {
    const end = Math.min(channel.length, Math.ceil(view.to - samples.from) + 1);
    const middle = box.y + lane * (index + 0.5);
    const place = (frame) => [
      box.x + (samples.from + frame - view.from) * pixelsPerFrame, middle - limited(channel[frame] * gain) * (lane / 2) * 0.94,
    ];
    context.beginPath();
    for (let frame = start; frame < end; frame++) context.lineTo(...place(frame));
    context.strokeStyle = colour;
    context.lineWidth = Math.max(1, devicePixelRatio);
    context.stroke();
    if (pixelsPerFrame < 6 * devicePixelRatio) return;
    context.fillStyle = colour;
    const size = 3 * devicePixelRatio;
    for (let frame = start; frame < end; frame++) {
      const [x, y] = place(frame);
      context.fillRect(x - size / 2, y - size / 2, size, size);
    }
  });
}

/** A quiet take is magnified at most so much. Its peaks have 8 bits, and more would show only their steps. */
const mostGain = 24;

/**
 * Draws a small waveform of a whole take, with all channels in one. Its greatest peak has nearly the whole height.
 * @param {HTMLCanvasElement} canvas
 * @param {{channels: number, length: number, data: Int8Array}} peaks
 */
export function drawThumbnail(canvas, peaks, colour) {
  const context = canvas.getContext('2d');
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  context.fillStyle = colour;
  const values = peaks.channels * 2;
  const most = peaks.data.reduce((greatest, value) => Math.max(greatest, Math.abs(value)), 1);
  const scale = Math.min(mostGain / 128, 1 / most) * (height / 2);
  for (let x = 0; x < width; x++) {
    const start = Math.floor((x * peaks.length) / width) * values;
    const end = Math.max(start + values, Math.floor(((x + 1) * peaks.length) / width) * values);
    let least = 0;
    let greatest = 0;
    for (let at = start; at < end; at += 2) {
      least = Math.min(least, peaks.data[at]);
      greatest = Math.max(greatest, peaks.data[at + 1]);
    }
    const top = height / 2 - greatest * scale;
    context.fillRect(x, top, 1, Math.max(1, (greatest - least) * scale));
  }
}

// The lanes of a timeline that are no spectrogram: the waveform of a take, and the axis of time.

/** The waveform with the places of the sidecar and the markers. */
export class WaveLane {
  name = 'wave';
  /** The vertical scale. */
  gain = 1;
  /** Markers of the take. */
  places = [];

  /** @param {object} options `t`, and `onLoad()` when more can be drawn. */
  constructor(take, sidecar, { t, onLoad }) {
    Object.assign(this, { take, sidecar, t });
    this.peaks = new Peaks(take.take, take.frames, onLoad);
    this.height = `calc(3.5rem + ${Math.min(take.channels, 8)} * 1rem)`;
  }

  close() { this.peaks.close(); }

  describe(view) {
    const rate = this.take.rate_hz;
    return this.t('take.picture', {
      from: lengthText(view.from / rate, 2), to: lengthText(view.to / rate, 2),
      markers: this.places.length, gaps: this.sidecar.gaps.length,
    });
  }

  draw(context, box, view, colours) {
    drawRanges(context, box, view, this.sidecar, colours);
    this.peaks.begin();
    drawSound(context, box, view, this.peaks, this.take.channels, colours, this.gain);
    drawPlaces(context, box, view, this.sidecar, this.places, colours);
  }

  /** What the small picture of the whole take depends on. */
  get wholeState() { return this.peaks.coarseCount; }

  drawWhole(context, box, whole, colours) {
    drawRanges(context, box, whole, this.sidecar, colours);
    drawSound(context, box, whole, this.peaks, this.take.channels, colours);
  }
}

/** The axis of time. */
export class TimeLane {
  name = 'axis';
  height = '1.2rem';

  /** @param [ticks] The texts and the spacing of `drawAxis`. */
  constructor(rate, ticks) { Object.assign(this, { rate, ticks }); }

  draw(context, box, view, colours) { drawAxis(context, box, view, this.rate, colours, this.ticks); }
}

// The small waveforms of takes, in a list and in the player.

export const thumbnailPixels = 300;
const mostKept = 500;
const parallelThumbnails = 4;
/** A row must be visible this long before its waveform is fetched. Rows that scroll past are skipped. */
const thumbnailRest = 120;

/** The peaks of takes by stem and revision, for all pages. */
const kept = new Map();

/** Fetches the small waveforms of visible canvases. */
export class Thumbnails {
  #wanted = new Set();
  #running = 0;
  #timer = 0;

  constructor() {
    this.seen = new IntersectionObserver((entries) => this.#moved(entries), { rootMargin: '20% 0px' });
  }

  close() {
    clearTimeout(this.#timer);
    this.#wanted.clear();
    this.seen.disconnect();
  }

  /** Draws the waveform of a take once the canvas is visible. */
  observe(canvas, take) {
    canvas.take = take;
    // An observer reports a newly observed element again, so that a changed take is redrawn.
    this.seen.unobserve(canvas);
    this.seen.observe(canvas);
  }

  /** The canvas is removed from the page. */
  release(canvas) {
    this.#wanted.delete(canvas);
    this.seen.unobserve(canvas);
  }

  /** Draws all canvases again in other colours. */
  redraw(canvases) { for (const canvas of canvases) this.#draw(canvas); }

  #moved(entries) {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) this.#wanted.delete(target);
      else if (!this.#draw(target)) this.#wanted.add(target);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#pump(), thumbnailRest);
  }

  #pump() {
    for (const canvas of this.#wanted) {
      if (this.#running >= parallelThumbnails) return;
      this.#wanted.delete(canvas);
      this.#running += 1;
      this.#fetch(canvas).finally(() => {
        this.#running -= 1;
        this.#pump();
      });
    }
  }

  async #fetch(canvas) {
    const { take, frames, revision } = canvas.take;
    const each = Math.max(1, Math.ceil(frames / thumbnailPixels));
    const response = await fetch(`/api/takes/${encodeURIComponent(take)}/waveform.dat?frames_per_pixel=${each}&from=0&to=${frames}`)
      .catch(() => null);
    if (!response?.ok) return;
    kept.set(`${take}/${revision}`, readPeaks(await response.arrayBuffer()));
    if (kept.size > mostKept) kept.delete(kept.keys().next().value);
    this.#draw(canvas);
  }

  #draw(canvas) {
    const peaks = kept.get(`${canvas.take.take}/${canvas.take.revision}`);
    if (peaks) drawThumbnail(canvas, peaks, getComputedStyle(canvas).color);
    return peaks !== undefined;
  }
}
