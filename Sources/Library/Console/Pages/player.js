// Plays a take by the browser's own player, by Web Audio from clips, or on the kit. All three are engines with `start(frame, end)`,
// `stop()`, `frame`, `apply(settings)` (false means that it must be restarted), `onEnd` and `onFail`.
import { sentenceOf } from './api.js';
import { t } from './texts.js';

/** Speeds that every browser's own player supports. */
const slowestOfElement = 0.5;
/** Web Audio schedules this many seconds ahead. */
const ahead = 2.5;
const pieceSeconds = 1.5;
const watchInterval = 40;

/** The qualities of a Butterworth filter of the fourth order, in dB as Web Audio has them. */
const qualities = [0.5412, 1.3066].map((quality) => 20 * Math.log10(quality));

/**
 * The filters that leave a band of a take: high-pass and low-pass of the fourth order. An edge that the sound does not reach has none.
 * @param {{low: number, high: number} | null} band In hertz of the take; null for all frequencies.
 * @param {number} pitch The played pitch against the take's.
 * @param {number} most The highest frequency that is played, in hertz.
 * @returns {{type: string, frequency: number, Q: number}[]}
 */
export function bandFilters(band, pitch, most) {
  if (!band) return [];
  const edges = [['highpass', band.low], ['lowpass', band.high]].map(([type, hertz]) => [type, hertz * pitch]);
  return edges.filter(([type, hertz]) => hertz > 0 && (type === 'highpass' || hertz < most))
    .flatMap(([type, hertz]) => qualities.map((Q) => ({ type, frequency: Math.min(hertz, most), Q })));
}

/**
 * @typedef {object} Settings
 * @property {number} speed 0.1 to 2.
 * @property {number} cents The pitch against the original's.
 * @property {boolean} expand Whether the pitch follows the speed, as on a tape.
 * @property {number} volume 0 to 1.
 */

/** @type {Settings} Those of a player that was not set otherwise. */
export const normalSettings = { speed: 1, cents: 0, expand: false, volume: 1 };

/** Plays one take, here or on the kit. */
export class Player {
  #engine = null;
  #frame = 0;
  #end = null;
  #band = null;
  #timer = 0;
  #isElementUsable = true;
  /** The next engine, once it was sent to a position. An engine that has loaded nothing begins with the take's first frames. */
  #prepared = null;

  /**
   * @param {object} take An entry of `/api/takes`.
   * @param {object} options
   * @param {object} options.api
   * @param {Settings} options.settings Those of all takes.
   * @param {() => void} options.onStart Called before it plays.
   * @param {() => void} options.onChange
   * @param {() => void} options.onEnd The browser has played the take to its end.
   * @param {(error: Error) => void} options.onFail
   */
  constructor(take, options) {
    Object.assign(this, { take, ...options });
    this.where = 'browser';
  }

  get isPlaying() { return this.#engine !== null; }

  /** The frame that plays now, or where playback continues. */
  get frame() {
    return Math.round(Math.min(this.take.frames, Math.max(0, this.#engine ? this.#engine.frame : this.#frame)));
  }

  /** The pitch of what the browser plays against the take's. */
  get pitch() { return pitchOf(this.settings); }

  /**
   * Continues up to frame `end`, or to the end of the take.
   * @param {{low: number, high: number} | null} band Plays only these frequencies, in hertz. The kit plays all.
   */
  async play(end = null, band = null) {
    if (this.#engine) return;
    this.onStart();
    if (this.#frame >= (end ?? this.take.frames)) this.#frame = 0;
    this.#end = end;
    this.#band = band;
    const engine = this.#choose();
    this.#engine = engine;
    engine.onEnd = () => this.#ended(engine);
    engine.onFail = (error) => this.#failed(engine, error);
    engine.apply(this.settings, band);
    this.onChange();
    this.#timer = setInterval(() => this.#watch(), watchInterval);
    await engine.start(this.#frame, end ?? this.take.frames).catch((error) => this.#failed(engine, error));
  }

  /** Stops playback, and keeps the position. */
  pause() {
    if (!this.#engine) return;
    this.#frame = this.frame;
    this.#leave();
    this.#forget();
    this.#prepare();
    this.onChange();
  }

  /** Goes to a frame. Playback continues if it was running. A seek to the end of a selection, or behind it, leaves the selection. */
  seek(frame) {
    const wasPlaying = this.isPlaying;
    const target = Math.min(this.take.frames, Math.max(0, Math.round(frame)));
    if (this.#end !== null && target >= this.#end) this.#forget();
    if (wasPlaying && this.#engine.seek) {
      this.#engine.seek(target);
    } else {
      if (wasPlaying) this.#leave();
      this.#frame = target;
      if (wasPlaying) this.play(this.#end, this.#band);
      else this.#prepare();
    }
    this.onChange();
  }

  /** Changes some settings. @param {Partial<Settings>} changes */
  set(changes) {
    Object.assign(this.settings, changes);
    if (!this.#engine) return;
    if (this.#engine.constructor === this.#kind() && this.#engine.apply(this.settings, this.#band)) return;
    this.#again();
  }

  /** Plays in the `browser` or on the `kit`. */
  move(where) {
    if (this.where === where) return;
    const wasPlaying = this.isPlaying;
    this.pause();
    this.where = where;
    if (wasPlaying) this.play();
  }

  /** Handles a status of the recorder, which shows when the kit's playback ends. */
  heard(status) {
    const isMine = status.take === this.take.take && status.state === 'playing';
    if (!this.#engine && this.where === 'kit' && isMine) this.#adopt();
    this.#engine?.heard?.(status);
  }

  /** Follows playback that somebody else started. */
  #adopt() {
    this.onStart();
    const engine = new KitEngine(this.take, this.api, true);
    engine.onEnd = () => this.#ended(engine);
    engine.onFail = (error) => this.#failed(engine, error);
    this.#engine = engine;
    this.#forget();
    this.#timer = setInterval(() => this.#watch(), watchInterval);
    this.onChange();
  }

  /** The recorder's playback position, from a `level` event. */
  located(seconds) { this.#engine?.located?.(seconds); }

  /** Ends playback, and all requests. */
  close() {
    this.#frame = this.frame;
    this.#leave();
    this.#forget();
    this.#prepared?.stop();
    this.#prepared = null;
  }

  #kind() {
    if (this.where === 'kit') return KitEngine;
    const { speed, cents, expand } = this.settings;
    // The browser's own player resamples to the loudspeaker's rate before it slows down, so ultrasound would be lost.
    const isEasy = cents === 0 && speed >= slowestOfElement && !(expand && speed !== 1);
    const isOne = this.take.files.length === 1 && this.take.counts.parts === 1;
    return isEasy && isOne && !this.#band && this.#isElementUsable ? ElementEngine : ClipEngine;
  }

  #choose() {
    const kind = this.#kind();
    const prepared = kind === ElementEngine ? this.#prepared : null;
    if (prepared) this.#prepared = null;
    return prepared ?? new kind(this.take, this.api);
  }

  #prepare() {
    if (this.#kind() !== ElementEngine) return;
    this.#prepared ??= new ElementEngine(this.take);
    this.#prepared.seek(this.#frame);
  }

  #again() {
    this.#frame = this.frame;
    this.#leave();
    this.play(this.#end, this.#band);
  }

  #leave() {
    clearInterval(this.#timer);
    const engine = this.#engine;
    this.#engine = null;
    engine?.stop();
  }

  /** What plays next has no end and no band of a selection. */
  #forget() {
    this.#end = null;
    this.#band = null;
  }

  #watch() {
    if (this.#end !== null && this.frame >= this.#end) {
      const end = this.#end;
      this.pause();
      this.#frame = end;
    }
    this.onChange();
  }

  #ended(engine) {
    if (engine !== this.#engine) return;
    const isOnKit = engine instanceof KitEngine;
    const isWhole = this.#end === null && !isOnKit;
    this.#frame = this.#end ?? (isOnKit ? this.frame : this.take.frames);
    this.#leave();
    this.#forget();
    this.onChange();
    // What ends on the kit may have been stopped there.
    if (isWhole) this.onEnd();
  }

  #failed(engine, error) {
    if (engine !== this.#engine) return;
    const frame = this.frame;
    this.#leave();
    this.#frame = frame;
    if (engine instanceof ElementEngine && error.name !== 'NotAllowedError') {
      // This browser does not support the format. Clips are WAV.
      this.#isElementUsable = false;
      this.play(this.#end, this.#band);
      return;
    }
    this.onChange();
    this.onFail(error);
  }
}

/** The element that played last. Phones let an element play by itself once a person has started it, so the next take has the same one. */
let spare = null;

/** An `<audio>` element with the take's single file, from which the browser fetches the needed ranges. */
class ElementEngine {
  constructor(take) {
    this.rate = take.rate_hz;
    this.audio = spare ?? new Audio();
    spare = null;
    this.audio.muted = false;
    this.audio.src = `/api/takes/${encodeURIComponent(take.take)}/files/${encodeURIComponent(take.files[0])}`;
    this.audio.onended = () => { if (this.audio.ended) this.onEnd?.(); };
    this.audio.onerror = () => this.onFail?.(new Error(this.audio.error?.message ?? 'audio'));
    this.audio.onseeked = () => { this.audio.muted = false; };
  }

  get frame() { return this.audio.currentTime * this.rate; }

  async start(frame) {
    this.seek(frame);
    await this.audio.play().catch((error) => {
      // `stop` aborts a `play` that has not begun.
      if (error.name !== 'AbortError') throw error;
    });
  }

  seek(frame) {
    // A browser that has not loaded the file yet may play some of its first frames before it seeks.
    if (frame > 0 && this.audio.readyState === HTMLMediaElement.HAVE_NOTHING) this.audio.muted = true;
    this.audio.currentTime = frame / this.rate;
  }

  stop() {
    this.audio.onended = null;
    this.audio.onerror = null;
    this.audio.onseeked = null;
    this.audio.pause();
    this.audio.removeAttribute('src');
    this.audio.load();
    spare = this.audio;
  }

  apply({ speed, expand, volume }) {
    this.audio.volume = volume;
    this.audio.preservesPitch = !expand;
    this.audio.defaultPlaybackRate = speed;
    this.audio.playbackRate = speed;
    return true;
  }
}

/** One context for all takes, because browsers allow few. */
let sharedContext = null;

function audioContext() {
  sharedContext ??= new AudioContext();
  return sharedContext;
}

/** @param {Settings} settings */
function pitchOf({ speed, cents, expand }) { return 2 ** (cents / 1200) * (expand ? speed : 1); }

/** Pieces from the worker, scheduled one after the other. */
class ClipEngine {
  #pieces = [];
  #worker = null;
  #isLast = false;
  #isAsking = false;
  #timer = 0;
  #applied = null;

  constructor(take) {
    this.take = take;
    this.context = audioContext();
    this.gain = this.context.createGain();
    this.nodes = [this.gain];
  }

  get frame() {
    const now = this.context.currentTime;
    const piece = this.#pieces.findLast((one) => one.start <= now) ?? this.#pieces[0];
    if (!piece) return this.from ?? 0;
    const share = Math.min(1, Math.max(0, (now - piece.start) / piece.seconds));
    return piece.from + share * (piece.to - piece.from);
  }

  async start(frame, end) {
    this.from = frame;
    await this.context.resume();
    const { speed, pitch, band } = this.#applied;
    this.#connect(bandFilters(band, pitch, 0.499 * this.context.sampleRate));
    this.#worker = new Worker('/player-worker.js', { type: 'module' });
    this.#worker.onmessage = ({ data }) => this.#receive(data);
    this.#worker.onerror = (event) => this.onFail(new Error(event.message ?? t('connection.unread')));
    this.#isAsking = true;
    this.#worker.postMessage({
      start: {
        stem: this.take.take, from: frame, to: Math.round(end), pitch, stretch: pitch / speed,
        outputRate: this.context.sampleRate, pieceFrames: Math.max(1024, pieceSeconds * speed * this.take.rate_hz),
      },
    });
    this.#timer = setInterval(() => this.#proceed(), 200);
  }

  stop() {
    clearInterval(this.#timer);
    this.#worker?.terminate();
    for (const { source } of this.#pieces) source.stop();
    for (const node of this.nodes) node.disconnect();
  }

  apply(settings, band) {
    this.gain.gain.value = settings.volume;
    const { speed } = settings;
    const pitch = pitchOf(settings);
    const isSame = this.#applied === null || (this.#applied.speed === speed && this.#applied.pitch === pitch);
    this.#applied = { speed, pitch, band };
    return isSame;
  }

  /** Connects the pieces to the loudspeaker through filters. */
  #connect(filters) {
    for (const { type, frequency, Q } of filters) this.nodes.push(new BiquadFilterNode(this.context, { type, frequency, Q }));
    this.nodes.forEach((node, index) => node.connect(this.nodes[index + 1] ?? this.context.destination));
  }

  get #scheduledTo() {
    const last = this.#pieces.at(-1);
    return last ? last.start + last.seconds : 0;
  }

  #receive(piece) {
    this.#isAsking = false;
    if (piece.problem) {
      sentenceOf(piece.problem).then((sentence) => this.onFail(new Error(sentence || t('connection.unread'))));
      return;
    }
    this.#isLast = piece.isLast;
    // The stretcher may hold back all of a short piece.
    if (piece.channels[0].length) this.#schedule(piece);
    this.#proceed();
  }

  #schedule({ from, to, channels, rate }) {
    const { context } = this;
    // The buffer is declared with the context's rate and played at the ratio to its real rate, so any rate works.
    const buffer = context.createBuffer(channels.length, channels[0].length, context.sampleRate);
    channels.forEach((samples, index) => buffer.copyToChannel(samples, index));
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.playbackRate.value = (rate * this.#applied.pitch) / context.sampleRate;
    source.connect(this.gain);
    const start = Math.max(this.#scheduledTo, context.currentTime + 0.03);
    source.start(start);
    this.#pieces.push({ source, start, seconds: buffer.duration / source.playbackRate.value, from, to });
  }

  #proceed() {
    const { currentTime } = this.context;
    if (this.#isLast) {
      if (currentTime >= this.#scheduledTo) this.onEnd();
      return;
    }
    if (this.#isAsking || this.#scheduledTo - currentTime > ahead) return;
    this.#pieces = this.#pieces.filter((piece) => piece.start + piece.seconds > currentTime - 1);
    this.#isAsking = true;
    this.#worker.postMessage({});
  }
}

/** The deck of the kit: its loudspeaker plays, and its events show the position. */
class KitEngine {
  #at = null;
  #speed = 1;
  /** `ready`, `starting`, `playing` or `ended`. */
  #state;
  #sent = null;

  constructor(take, api, isStarted = false) {
    this.take = take;
    this.api = api;
    this.#state = isStarted ? 'playing' : 'ready';
  }

  get frame() {
    if (!this.#at) return this.from ?? 0;
    // Events come ten times a second. In between, the time is extrapolated.
    const since = Math.min(0.3, (performance.now() - this.#at.when) / 1000);
    return (this.#at.seconds + since * this.#speed) * this.take.rate_hz;
  }

  async start(frame) {
    this.from = frame;
    this.#state = 'starting';
    await this.#sent;
    // A person has stopped it meanwhile, or a setting was refused.
    if (this.#state === 'ended') return;
    await this.api.post('/api/deck/play', { take: this.take.take });
    const seconds = frame / this.take.rate_hz;
    if (seconds > 0.05 && this.#state === 'starting') await this.api.post('/api/deck/skip', { seconds });
    if (this.#state === 'ended') await this.api.post('/api/deck/stop');
    else this.#state = 'playing';
  }

  seek(frame) {
    const seconds = (frame - this.frame) / this.take.rate_hz;
    this.#at = { seconds: frame / this.take.rate_hz, when: performance.now() };
    this.api.post('/api/deck/skip', { seconds }).catch((error) => this.onFail(error));
  }

  stop() {
    // A playback that ended by itself, or that another take replaced, must not be stopped again.
    const before = this.#state;
    this.#state = 'ended';
    if (before === 'playing') this.api.post('/api/deck/stop').catch((error) => this.onFail(error));
  }

  apply({ speed, cents, expand, volume }) {
    this.#speed = speed;
    this.#sent = Promise.all([
      this.api.post('/api/deck/speed', { factor: speed, expand }),
      this.api.post('/api/deck/pitch', { cents }),
      this.api.post('/api/deck/volume', { volume }),
    ]).catch((error) => this.onFail(error));
    return true;
  }

  heard({ state, take }) {
    if (this.#state !== 'playing' || (take === this.take.take && state === 'playing')) return;
    this.#state = 'ended';
    this.onEnd();
  }

  located(seconds) {
    if (this.#state === 'playing' && seconds !== null) this.#at = { seconds, when: performance.now() };
  }
}
