// How a spectrogram is painted: colours, contrast, and axes of frequency. Pure arithmetic.

// The colours of spectrograms, and their contrast.

/** Colours from the noise to the loudest: ten steps of matplotlib's "magma", and for sunlight dark on white. Both are ordered by lightness. */
const maps = {
  night: [
    [0, 0, 4], [24, 15, 61], [68, 15, 118], [114, 31, 129], [158, 47, 127],
    [205, 64, 113], [241, 96, 93], [253, 150, 104], [254, 202, 141], [252, 253, 191],
  ],
  paper: [[255, 255, 255], [206, 208, 222], [150, 140, 180], [96, 66, 128], [50, 14, 72], [14, 0, 18], [0, 0, 0]],
};

/**
 * A colour for each number of dB above the noise, as the bytes of a pixel on a little-endian machine.
 * @param {'night' | 'paper'} map
 * @param {number} range The dB of the last colour.
 */
export function colourTable(map, range) {
  const steps = maps[map] ?? maps.night;
  return Uint32Array.from({ length: 256 }, (_, decibels) => {
    const place = Math.min(1, decibels / range) * (steps.length - 1);
    const index = Math.min(steps.length - 2, Math.floor(place));
    const mix = (part) => Math.round(steps[index][part] + (place - index) * (steps[index + 1][part] - steps[index][part]));
    return ((255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
  });
}

const leastRange = 30;

/**
 * The automatic contrast of a picture.
 * @param {Iterable<number>} values Decibels, 0 to 255. 0 is silence and does not count.
 * @returns {{low: number, high: number}} The values with the first and with the last colour, at least 30 dB apart: a quarter of the
 * picture is below, and 0.2 % above.
 */
export function levels(values) {
  const counts = new Uint32Array(256);
  let total = 0;
  for (const value of values) {
    if (value === 0) continue;
    counts[value] += 1;
    total += 1;
  }
  if (!total) return { low: 60, high: 120 };
  const quantile = (share) => {
    let left = share * total;
    return counts.findIndex((count) => (left -= count) < 0);
  };
  const low = quantile(0.25);
  return { low, high: Math.max(low + leastRange, quantile(0.998)) };
}

// How a spectrogram is painted: axes of frequency, contrast and colours. Pure arithmetic.

/** A logarithmic axis has at most this ratio of its ends. */
const mostRatio = 512;
/** The contrast is measured in this many bands. */
const bands = 256;
/** The noise of a band is at most the median of this many bands on each side, so that a constant tone is not taken for noise. */
const bandsAround = 16;
const loudest = 0.999;
/** The colours reach from the noise to at least and at most this many dB above it. */
const leastDecibels = 24;
const mostDecibels = 50;

/** An axis of frequency: `share` is 0 at `low` and 1 at `high`. */
export class FrequencyScale {
  constructor(low, high, isLogarithmic) {
    this.low = isLogarithmic ? Math.max(low, high / mostRatio) : low;
    this.high = high;
    this.isLogarithmic = isLogarithmic;
  }

  share(hertz) {
    const { low, high } = this;
    return this.isLogarithmic ? Math.log(Math.max(hertz, 1e-3) / low) / Math.log(high / low) : (hertz - low) / (high - low);
  }

  hertz(share) {
    const { low, high } = this;
    return this.isLogarithmic ? low * (high / low) ** share : low + share * (high - low);
  }

  /** At most about `most` round frequencies. */
  ticks(most) {
    const isWithin = (hertz) => hertz > this.low && hertz < this.high;
    if (this.isLogarithmic) {
      const decades = [1, 10, 100, 1e3, 1e4, 1e5];
      const ticks = decades.flatMap((decade) => [1, 2, 5].map((step) => decade * step)).filter(isWithin);
      return ticks.length <= most ? ticks : decades.filter(isWithin);
    }
    const least = (this.high - this.low) / Math.max(1, most);
    const decade = 10 ** Math.floor(Math.log10(least));
    const step = decade * [1, 2, 5, 10].find((one) => one * decade >= least);
    const first = Math.ceil(this.low / step);
    return Array.from({ length: Math.floor(this.high / step) - first + 1 }, (_, index) => (first + index) * step).filter(isWithin);
  }
}

/**
 * The first and the last row of a spectrogram for each line of a picture, from the top: line after line. Each visible row is in a line.
 * @param {number} rows They divide the frequencies from 0 to `nyquist` evenly.
 */
export function rowsOfLines(scale, height, rows, nyquist) {
  const edges = Array.from({ length: height + 1 }, (_, line) => (scale.hertz(1 - line / height) / nyquist) * rows);
  return Int32Array.from({ length: 2 * height }, (_, at) => {
    const [upper, lower] = [edges[at >> 1], edges[(at >> 1) + 1]];
    // A row belongs to the line that has its middle. A line between two middles shows the row around it.
    const first = Math.ceil(lower - 0.5);
    const last = Math.ceil(upper - 0.5) - 1;
    const row = last < first ? Math.floor((lower + upper) / 2) : at % 2 ? last : first;
    return Math.min(rows - 1, Math.max(0, row));
  });
}

/**
 * The dB by which the values of a tile are raised, so that noise is as dark at each zoom. The greatest of more windows is greater, and
 * a longer window has less noise at each frequency.
 */
export function noiseLift({ samples, rows, window }) {
  const pooled = Math.max(1, samples / (window / 2)) * Math.max(1, window / 2 / rows);
  // The median of the greatest of so many powers, which are distributed exponentially.
  const median = 10 * Math.log10(-Math.log(1 - 2 ** (-1 / pooled)));
  return Math.round(10 * Math.log10(window) - median);
}

/**
 * The contrast for what is visible: the raised noise of each band, and the decibels from there to the loudest sound.
 * @param {{tile: object, first: number, last: number}[]} parts Columns of tiles, without the last one.
 * @returns {{floors: Uint8Array, range: number}}
 */
export function contrastOf(parts) {
  const counts = new Uint32Array(bands * 256);
  for (const { tile, first, last } of parts) {
    const lift = noiseLift(tile);
    for (let row = 0; row < tile.rows; row++) {
      const base = 256 * bandOf(row, tile.rows);
      const start = row * tile.columns;
      for (let at = start + first; at < start + last; at++) {
        const value = tile.values[at];
        // The value 0 is silence, and 255 is not a number.
        if (value > 0 && value < 255) counts[base + Math.min(255, value + lift)] += 1;
      }
    }
  }
  const noise = Array.from({ length: bands }, (_, band) => quantile(counts.subarray(256 * band, 256 * band + 256), 0.5));
  const floors = Uint8Array.from(noise, (own, band) => {
    const around = median(noise.slice(Math.max(0, band - bandsAround), band + bandsAround + 1)) ?? 0;
    return Math.min(own ?? around, around);
  });
  const excess = new Uint32Array(256);
  counts.forEach((count, at) => { excess[Math.max(0, (at % 256) - floors[at >> 8])] += count; });
  return { floors, range: Math.min(mostDecibels, Math.max(leastDecibels, quantile(excess, loudest) ?? mostDecibels)) };
}

/** The value that this share of all counted values do not exceed; null without any. */
function quantile(counts, share) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (!total) return null;
  let sum = 0;
  return counts.findIndex((count) => {
    sum += count;
    return sum >= share * total;
  });
}

function median(values) {
  const there = values.filter((value) => value !== null).sort((a, b) => a - b);
  return there.length ? there[there.length >> 1] : null;
}

function bandOf(row, rows) { return Math.min(bands - 1, Math.floor((row * bands) / rows)); }

/** A picture of a tile that is painted line by line: a pixel for each column and line. */
export class TilePainting {
  #line = 0;
  #greatest;

  /**
   * @param {{columns: number, samples: number, rows: number, window: number, values: Uint8Array}} tile `samples` are those in a column.
   * @param {Int32Array} lines From `rowsOfLines`.
   * @param {Uint8Array} floors The raised noise of each band.
   * @param {Uint32Array} colours From `colourTable`.
   */
  constructor(tile, lines, floors, colours) {
    Object.assign(this, { tile, lines, floors, colours });
    this.height = lines.length / 2;
    this.lift = noiseLift(tile);
    this.pixels = new Uint32Array(tile.columns * this.height);
    this.#greatest = new Uint8Array(tile.columns);
  }

  get isDone() { return this.#line >= this.height; }

  /** Paints some more lines. A pixel shows the greatest of its rows, so that no sound is lost. */
  proceed(count = this.height) {
    const { tile: { columns, rows, values }, lines, floors, lift, colours, pixels } = this;
    const greatest = this.#greatest;
    const end = Math.min(this.height, this.#line + count);
    for (; this.#line < end; this.#line++) {
      greatest.fill(0);
      for (let row = lines[2 * this.#line]; row <= lines[2 * this.#line + 1]; row++) {
        const floor = Math.max(0, floors[bandOf(row, rows)] - lift);
        const start = row * columns;
        for (let column = 0; column < columns; column++) {
          const excess = values[start + column] - floor;
          if (excess > greatest[column]) greatest[column] = excess;
        }
      }
      const at = this.#line * columns;
      for (let column = 0; column < columns; column++) pixels[at + column] = colours[greatest[column]];
    }
  }
}
