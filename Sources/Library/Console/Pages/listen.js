// Plays the microphone live: an endless WAV stream, played about half a second late.
import { refusalOf } from './api.js';
import { h } from './dom.js';
import { findChunks } from './wav.js';

/** Seconds to buffer before the sound begins, and the most to buffer. */
const aim = 0.35;
const most = 1;
const longestHeader = 4096;

/**
 * The button that starts and stops listening, with the choice of mono or stereo.
 * @param {object} context The page's context.
 * @returns {HTMLElement} `element.end()` stops listening.
 */
export function listenButton(context) {
  const { t } = context;
  let session = null;
  const button = h('button', { type: 'button', class: 'listen-button', 'aria-pressed': 'false' }, t('listen.start'));
  const state = h('span', { class: 'listen-state', role: 'status' });
  const choice = h('select', { 'aria-label': t('listen.channels') },
    h('option', { value: 'stereo' }, t('listen.stereo')), h('option', { value: 'mono' }, t('listen.mono')));

  const show = (text) => {
    button.textContent = t(session ? 'listen.stop' : 'listen.start');
    button.setAttribute('aria-pressed', String(session !== null));
    state.textContent = text;
  };
  const stop = (text = '') => {
    session?.close();
    session = null;
    show(text);
  };
  const start = () => {
    const own = new ListenSession(choice.value === 'mono', {
      onSound: () => { if (own === session) show(t('listen.on')); },
      // The browser's own sentence about a lost connection is in the browser's language.
      onEnd: (error) => { if (own === session) stop(error ? t('listen.failed', { why: error instanceof TypeError ? t('connection.unread') : error.message }) : t('listen.ended')); },
    });
    session = own;
    show(t('listen.connecting'));
    own.run();
  };
  button.addEventListener('click', () => (session ? stop() : start()));
  choice.addEventListener('change', () => session?.setMono(choice.value === 'mono'));
  const element = h('div', { class: 'listen' }, button, choice, state);
  element.end = stop;
  return element;
}

/** One connection, from the request to the loudspeaker. */
class ListenSession {
  #abort = new AbortController();
  #context = null;
  #sink = null;
  #light = null;

  constructor(isMono, { onSound, onEnd }) {
    this.isMono = isMono;
    this.onSound = onSound;
    this.onEnd = onEnd;
  }

  setMono(isMono) { this.isMono = isMono; }

  close() {
    this.#abort.abort();
    this.#context?.close();
    this.#context = null;
    this.#light?.release();
    this.#light = null;
  }

  async run() {
    try {
      // Created at the tap, while the browser allows sound. The rate of the stream is not known yet.
      this.#context = new AudioContext();
      this.#keepLit();
      // A page that was hidden has lost the wake lock.
      document.addEventListener('visibilitychange', () => this.#keepLit(), { signal: this.#abort.signal });
      const response = await fetch('/api/listen', { signal: this.#abort.signal });
      if (!response.ok) throw await refusalOf(response);
      await this.#read(response.body.getReader());
      this.onEnd(null);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.onEnd(error);
    }
  }

  /** Keeps the screen on, because a sleeping phone ends the sound. Browsers allow this on pages loaded by HTTPS. */
  async #keepLit() {
    if (document.hidden) return;
    const light = await navigator.wakeLock?.request('screen').catch(() => null);
    if (this.#abort.signal.aborted) light?.release();
    else this.#light = light ?? null;
  }

  async #read(reader) {
    let bytes = new Uint8Array(0);
    let format = null;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      bytes = concatenated(bytes, value);
      if (!format) {
        const header = readHeader(bytes);
        if (!header) continue;
        format = header.format;
        bytes = bytes.slice(header.data);
        await this.#open(format.rate);
      }
      const frames = Math.floor(bytes.length / format.frameBytes);
      if (frames) this.#sink.push(this.#samples(bytes, frames, format));
      bytes = bytes.slice(frames * format.frameBytes);
    }
  }

  async #open(rate) {
    if (this.#context.sampleRate !== rate) this.#context = await contextOf(rate, this.#context);
    // A person has stopped it meanwhile.
    if (this.#abort.signal.aborted) this.#context.close();
    await this.#context.resume();
    // Browsers have worklets only on pages loaded by HTTPS or from the same machine.
    const hasWorklet = this.#context.audioWorklet && this.#context.sampleRate === rate;
    this.#sink = hasWorklet ? await workletSink(this.#context) : new BufferSink(this.#context, rate);
    this.onSound();
  }

  /** 16-bit samples as channels with full scale 1. */
  #samples(bytes, frames, { channels }) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const sound = Array.from({ length: channels }, (_, channel) => Float32Array.from(
      { length: frames }, (_, frame) => view.getInt16(2 * (frame * channels + channel), true) / 0x8000));
    if (!this.isMono || channels === 1) return sound;
    return [sound[0].map((_, frame) => sound.reduce((sum, samples) => sum + samples[frame], 0) / channels)];
  }
}

/** The content of the header, or null while it is incomplete. */
function readHeader(bytes) {
  try {
    return findChunks(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    if (bytes.length > longestHeader) throw error;
    return null;
  }
}

function concatenated(a, b) {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}

/** A context with the stream's rate, so that the browser resamples. If that is not possible, the given context. */
async function contextOf(rate, context) {
  try {
    const other = new AudioContext({ sampleRate: rate });
    await context.close().catch(() => {});
    return other;
  } catch {
    return context;
  }
}

async function workletSink(context) {
  await context.audioWorklet.addModule('/listen-worklet.js');
  const { sampleRate } = context;
  const node = new AudioWorkletNode(context, 'listening', {
    numberOfInputs: 0, outputChannelCount: [2],
    processorOptions: { aim: Math.round(aim * sampleRate), most: Math.round(most * sampleRate) },
  });
  node.connect(context.destination);
  return { push: (channels) => node.port.postMessage(channels, channels.map((samples) => samples.buffer)) };
}

/** Schedules each piece as its own buffer, which the browser resamples. */
class BufferSink {
  #end = 0;
  #isDropping = false;

  constructor(context, rate) {
    this.context = context;
    this.rate = rate;
  }

  push(channels) {
    const { context, rate } = this;
    const now = context.currentTime;
    if (this.#end > now + most) this.#isDropping = true;
    if (this.#end < now + aim) this.#isDropping = false;
    if (this.#isDropping) return;
    if (this.#end < now) this.#end = now + aim;
    const buffer = context.createBuffer(channels.length, channels[0].length, rate);
    channels.forEach((samples, index) => buffer.copyToChannel(samples, index));
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(context.destination);
    source.start(this.#end);
    this.#end += buffer.duration;
  }
}
