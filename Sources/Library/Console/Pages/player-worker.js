// Fetches a range of a take piece by piece, and prepares the pieces for playback. Frequencies that the loudspeaker cannot play are filtered
// out before the rate is lowered. The sound is stretched if its pitch and speed change differently.
import { readWAV } from './wav.js';

let run = null;

onmessage = ({ data }) => {
  if (data.start) run = { ...data.start, at: data.start.from, decimators: null, stretcher: null };
  next(run).then(
    (piece) => postMessage(piece, piece.channels.map((samples) => samples.buffer)),
    // The page has the sentences in its language.
    (error) => postMessage({ problem: error instanceof Error ? { detail: error.message } : error }));
};

async function next(current) {
  const from = current.at;
  const isFirst = from === current.from;
  const to = Math.min(current.to, from + Math.ceil(isFirst ? current.pieceFrames / 4 : current.pieceFrames));
  current.at = to;
  const path = `/api/takes/${encodeURIComponent(current.stem)}/clip?from=${from}&to=${to}&format=wav`;
  // The page has a sentence for a kit that does not answer.
  const response = await fetch(path).catch(() => { throw { detail: '' }; });
  if (!response.ok) throw await response.json().catch(() => ({ detail: String(response.status) }));
  const sound = readWAV(await response.arrayBuffer());
  const isLast = to >= current.to;
  const { channels, rate } = prepare(current, sound, isLast);
  return { from, to, channels, rate, isLast };
}

function prepare(current, sound, isLast) {
  const lowered = lower(current, mixed(sound.channels), sound.rate);
  if (current.stretch === 1) return lowered;
  current.stretcher ??= new Stretcher(lowered.rate, lowered.channels.length, current.stretch);
  return { rate: lowered.rate, channels: current.stretcher.push(lowered.channels, isLast) };
}

/** One or two channels; more are averaged to one. */
function mixed(channels) {
  if (channels.length <= 2) return channels;
  return [channels[0].map((_, frame) => channels.reduce((sum, channel) => sum + channel[frame], 0) / channels.length)];
}

/** Lowers the rate of sound that is played faster than the loudspeaker's rate. */
function lower(current, channels, rate) {
  const ratio = (rate * current.pitch) / current.outputRate;
  if (ratio <= 1) return { channels, rate };
  const factor = Math.floor(ratio);
  current.decimators ??= channels.map(() => new Decimator(ratio, factor));
  return { channels: channels.map((samples, index) => current.decimators[index].push(samples)), rate: rate / factor };
}

/** A low-pass (windowed sinc, Blackman) that keeps every `factor`th sample. Consecutive pieces make one signal. */
class Decimator {
  constructor(ratio, factor) {
    const half = 16 * Math.ceil(ratio);
    const cutoff = 0.45 / ratio;
    this.factor = factor;
    this.taps = Float32Array.from({ length: 2 * half + 1 }, (_, n) => {
      const x = n - half;
      const sinc = x === 0 ? 2 * cutoff : Math.sin(2 * Math.PI * cutoff * x) / (Math.PI * x);
      const phase = (Math.PI * n) / half;
      return sinc * (0.42 - 0.5 * Math.cos(phase) + 0.08 * Math.cos(2 * phase));
    });
    // Silence of half the filter's length, so that the filter adds no delay at the start.
    this.held = new Float32Array(half);
  }

  push(samples) {
    const { taps, factor } = this;
    const input = joined(this.held, samples);
    const count = Math.max(0, Math.floor((input.length - taps.length) / factor) + 1);
    const output = new Float32Array(count);
    for (let index = 0; index < count; index++) {
      let sum = 0;
      const start = index * factor;
      for (let tap = 0; tap < taps.length; tap++) sum += taps[tap] * input[start + tap];
      output[index] = sum;
    }
    this.held = input.slice(count * factor);
    return output;
  }
}

/**
 * Makes sound longer or shorter and keeps its pitch: WSOLA (Verhelst and Roelands, ICASSP 1993). Pieces of 40 ms overlap by half.
 * Each is taken from the position where it continues the previous one best.
 */
class Stretcher {
  constructor(rate, channelCount, stretch) {
    this.hop = Math.round(rate * 0.02);
    this.step = this.hop / stretch;
    this.reach = Math.round(rate * 0.012);
    // Comparing samples at 8 kHz is enough to find the position.
    this.stride = Math.max(1, Math.round(rate / 8000));
    this.fade = Float32Array.from({ length: this.hop }, (_, n) => 0.5 - 0.5 * Math.cos((Math.PI * (n + 0.5)) / this.hop));
    this.input = Array.from({ length: channelCount }, () => new Float32Array(0));
    this.first = 0;
    this.analysis = 0;
    this.previous = null;
  }

  /** Takes the next samples, and returns the finished output. */
  push(channels, isLast) {
    const { hop } = this;
    const rest = isLast ? new Float32Array(2 * hop + this.reach) : new Float32Array(0);
    this.input = this.input.map((held, index) => joined(joined(held, channels[index]), rest));
    const output = this.input.map(() => []);
    const end = this.first + this.input[0].length;
    while (this.#reaches() <= end) this.#advance(output);
    this.#drop();
    return output.map((pieces) => joined(...pieces));
  }

  /** The end of the samples that the next step reads. */
  #reaches() {
    const behind = Math.round(this.analysis) + this.reach + 2 * this.hop;
    return this.previous === null ? behind : Math.max(behind, this.previous + 2 * this.hop);
  }

  #advance(output) {
    const { hop, fade, first, input } = this;
    const wanted = Math.round(this.analysis);
    const chosen = this.previous === null ? wanted : this.#best(wanted, this.previous + hop);
    const tail = this.previous === null ? chosen : this.previous + hop;
    input.forEach((samples, index) => {
      const piece = new Float32Array(hop);
      for (let n = 0; n < hop; n++) {
        piece[n] = samples[tail - first + n] * (1 - fade[n]) + samples[chosen - first + n] * fade[n];
      }
      output[index].push(piece);
    });
    this.previous = chosen;
    this.analysis += this.step;
  }

  /** The position near `wanted` whose sound is most similar to that at `target`. */
  #best(wanted, target) {
    const coarse = this.#search(wanted, target, this.reach, this.stride);
    return this.stride === 1 ? coarse : this.#search(coarse, target, this.stride, Math.ceil(this.stride / 4));
  }

  #search(middle, target, reach, step) {
    let best = middle;
    let greatest = -Infinity;
    for (let at = Math.max(this.first, middle - reach); at <= middle + reach; at += step) {
      const likeness = this.#likeness(at - this.first, target - this.first);
      if (likeness > greatest) [best, greatest] = [at, likeness];
    }
    return best;
  }

  #likeness(a, b) {
    let product = 0;
    let energy = 1e-9;
    for (const samples of this.input) {
      for (let n = 0; n < this.hop; n += this.stride) {
        product += samples[a + n] * samples[b + n];
        energy += samples[a + n] ** 2;
      }
    }
    return product / Math.sqrt(energy);
  }

  #drop() {
    const needed = Math.min(Math.round(this.analysis) - this.reach, this.previous ?? Infinity);
    const count = Math.max(0, Math.min(needed - this.first, this.input[0].length));
    this.input = this.input.map((samples) => samples.slice(count));
    this.first += count;
  }
}

function joined(...pieces) {
  const whole = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
