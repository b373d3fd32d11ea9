// Computes the spectrogram of a range of a take from its samples, and paints it.
import { readWAV } from './wav.js';

/** Up to this length, the range is fetched as one clip. Longer ranges are sampled by windows. */
const mostFrames = 2 ** 19;
const windows = 64;
const parallelRequests = 4;
/** The level of the grid's value 0. The value 255 is 0 dB of full scale. */
const floorDecibels = -150;
const paintInterval = 200;

let job = null;
let paint = null;

onmessage = ({ data }) => {
  if (data.paint) paint = data.paint;
  if (data.compute) start(data.compute);
  else if (job) send(job);
};

function start(request) {
  job?.abort.abort();
  const { from, to, size, columns } = request;
  const isWhole = to - from <= mostFrames;
  const count = isWhole ? columns : Math.min(windows, columns);
  job = {
    ...request, isWhole, count, bins: size / 2, abort: new AbortController(), sent: 0, transform: new Transform(size),
    grid: new Uint8Array(count * (size / 2)),
  };
  run(job).catch((error) => {
    if (error.name !== 'AbortError') postMessage({ id: request.id, error: error.message });
  });
}

async function run(current) {
  if (current.isWhole) await computeWhole(current);
  else await computeWindows(current);
  if (current === job) send(current, true);
}

async function computeWhole(current) {
  const { from, to, frames, size, count } = current;
  const first = Math.max(0, Math.floor(from - size / 2));
  const sound = await fetchClip(current, first, Math.min(frames, Math.ceil(to + size / 2)));
  for (let column = 0; column < count; column++) {
    const middle = from + ((column + 0.5) / count) * (to - from);
    analyse(current, column, sound, Math.round(middle - size / 2) - first);
    if (column % 64 === 63) await breathe(current);
  }
}

async function computeWindows(current) {
  // From coarse to fine, so that something is visible everywhere early.
  const order = spread(current.count);
  const next = async () => {
    for (let column = order.shift(); column !== undefined; column = order.shift()) {
      const middle = current.from + ((column + 0.5) / current.count) * (current.to - current.from);
      const first = Math.max(0, Math.min(current.frames - current.size, Math.round(middle - current.size / 2)));
      analyse(current, column, await fetchClip(current, first, first + current.size), 0);
      await breathe(current);
    }
  };
  await Promise.all(Array.from({ length: parallelRequests }, next));
}

/** The numbers below `count`, each far from the previous ones. */
function spread(count) {
  const order = new Set();
  for (let step = 2 ** Math.ceil(Math.log2(count)); step >= 1; step /= 2) {
    for (let at = 0; at < count; at += step) order.add(at);
  }
  return [...order];
}

async function fetchClip({ stem, abort }, from, to) {
  const path = `/api/takes/${encodeURIComponent(stem)}/clip?from=${from}&to=${to}&format=wav`;
  const response = await fetch(path, { signal: abort.signal });
  if (!response.ok) throw new Error(`${response.status}`);
  return readWAV(await response.arrayBuffer());
}

/** Lets a newer request in, and shows the current state. */
async function breathe(current) {
  await new Promise((resolve) => setTimeout(resolve));
  current.abort.signal.throwIfAborted();
  if (performance.now() - current.sent > paintInterval) send(current);
}

/** Fills a column of the grid with the mean power of the chosen channels. */
function analyse({ transform, grid, bins, channel }, column, sound, start) {
  const channels = channel === null ? sound.channels : [sound.channels[channel] ?? sound.channels[0]];
  const power = new Float32Array(bins);
  for (const samples of channels) transform.addPower(samples, start, power);
  for (let bin = 0; bin < bins; bin++) {
    const decibels = 10 * Math.log10(power[bin] / channels.length + 1e-20);
    grid[column * bins + bin] = Math.max(0, Math.min(255, Math.round(255 * (1 - decibels / floorDecibels))));
  }
}

/** The discrete Fourier transform of Hann-windowed samples: radix 2, decimation in time, in place. */
class Transform {
  constructor(size) {
    this.size = size;
    this.real = new Float32Array(size);
    this.imaginary = new Float32Array(size);
    this.hann = Float32Array.from({ length: size }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / size));
    this.cosine = Float32Array.from({ length: size / 2 }, (_, n) => Math.cos((2 * Math.PI * n) / size));
    this.sine = Float32Array.from({ length: size / 2 }, (_, n) => -Math.sin((2 * Math.PI * n) / size));
    const bits = Math.log2(size);
    this.reversed = Uint16Array.from({ length: size }, (_, n) => {
      let result = 0;
      for (let bit = 0; bit < bits; bit++) result |= ((n >> bit) & 1) << (bits - 1 - bit);
      return result;
    });
  }

  /** Adds the power of each bin. A sine of full scale has the power 1 in its bin. Outside the samples is silence. */
  addPower(samples, start, power) {
    const { size, real, imaginary, hann, reversed } = this;
    for (let n = 0; n < size; n++) {
      const at = start + n;
      real[reversed[n]] = at >= 0 && at < samples.length ? samples[at] * hann[n] : 0;
    }
    imaginary.fill(0);
    this.#butterflies();
    // The window's mean is one half, and half of a sine's amplitude is at negative frequencies.
    const scale = (4 / size) ** 2;
    for (let bin = 0; bin < power.length; bin++) power[bin] += scale * (real[bin] ** 2 + imaginary[bin] ** 2);
  }

  #butterflies() {
    const { size, real, imaginary, cosine, sine } = this;
    for (let half = 1; half < size; half *= 2) {
      const stride = size / (2 * half);
      for (let block = 0; block < size; block += 2 * half) {
        for (let k = 0; k < half; k++) {
          const a = block + k;
          const b = a + half;
          const c = cosine[k * stride];
          const s = sine[k * stride];
          const x = real[b] * c - imaginary[b] * s;
          const y = real[b] * s + imaginary[b] * c;
          real[b] = real[a] - x;
          imaginary[b] = imaginary[a] - y;
          real[a] += x;
          imaginary[a] += y;
        }
      }
    }
  }
}

function send(current, isDone = false) {
  current.sent = performance.now();
  if (isDone) current.isDone = true;
  const { height, low, high, lowHz, isLogarithmic } = paint;
  const { count, bins, grid, rate } = current;
  const rows = rowBins(height, bins, rate, lowHz, isLogarithmic);
  const colours = paletteFor(low, high);
  const pixels = new Uint32Array(count * height);
  for (let row = 0; row < height; row++) {
    const [first, last] = rows[row];
    for (let column = 0; column < count; column++) {
      let greatest = 0;
      for (let bin = first; bin <= last; bin++) greatest = Math.max(greatest, grid[column * bins + bin]);
      pixels[row * count + column] = colours[greatest];
    }
  }
  const message = {
    id: current.id, from: current.from, to: current.to, width: count, height, pixels: pixels.buffer,
    isDone: current.isDone ?? false, isWhole: current.isWhole,
  };
  postMessage(message, [pixels.buffer]);
}

/** The first and last bin of each row, with the highest frequency in row 0. A row shows the greatest of its bins, so that no line is lost. */
function rowBins(height, bins, rate, lowHz, isLogarithmic) {
  const nyquist = rate / 2;
  const frequency = (share) => (isLogarithmic ? lowHz * (nyquist / lowHz) ** share : nyquist * share);
  const bin = (hertz) => Math.min(bins - 1, Math.max(0, Math.round((hertz / nyquist) * bins)));
  return Array.from({ length: height }, (_, row) => {
    const first = bin(frequency(1 - (row + 1) / height));
    return [first, Math.max(first, bin(frequency(1 - row / height)) - 1)];
  });
}

/** Ten steps of matplotlib's "magma": perceptually uniform, and ordered by lightness. */
const magma = [
  [0, 0, 4], [24, 15, 61], [68, 15, 118], [114, 31, 129], [158, 47, 127],
  [205, 64, 113], [241, 96, 93], [253, 150, 104], [254, 202, 141], [252, 253, 191],
];

/** A colour for each value of the grid, as the bytes of a pixel on a little-endian machine. */
function paletteFor(low, high) {
  return Uint32Array.from({ length: 256 }, (_, value) => {
    const decibels = floorDecibels * (1 - value / 255);
    const share = Math.min(1, Math.max(0, (decibels - low) / (high - low))) * (magma.length - 1);
    const index = Math.min(magma.length - 2, Math.floor(share));
    const mix = (part) => Math.round(magma[index][part] + (share - index) * (magma[index + 1][part] - magma[index][part]));
    return ((255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
  });
}
