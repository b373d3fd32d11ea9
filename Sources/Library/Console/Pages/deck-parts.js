// Parts of the deck: buttons that answer at once, the live waveform, and level meters.
import { button, h, icon, setText } from './dom.js';
import { fixedText, signedText } from './format.js';

// What a button shows from a press to its outcome. Pure: `PressButton` sends the request and runs the timers.

/** Nothing was pressed, or the outcome was shown long enough. */
export const atRest = { kind: 'rest' };

/** Whether an answer is awaited. Another press changes nothing then. */
export const isBusy = ({ kind }) => kind === 'pending' || kind === 'late';

/** The event that follows a state by itself, after some milliseconds. */
export const followUps = {
  pending: { event: { kind: 'late' }, after: 3000 },
  done: { event: { kind: 'rest' }, after: 900 },
  unreachable: { event: { kind: 'rest' }, after: 6000 },
};

/**
 * The state after an event.
 * @param {object} state Its `kind` is `rest`, `pending`, `late` (no answer for a while), `done`, `refused` (with the sentence `why`) or
 * `unreachable` (nothing was sent). `id` is that of the press.
 * @param {object} event Its `kind` is `press` (with `id` and `isReachable`), `late`, `done` or `refused` (with the `id` of the press, and
 * `why`), or `rest`.
 */
export function after(state, event) {
  const isAnswer = isBusy(state) && event.id === state.id;
  switch (event.kind) {
    case 'press': return isBusy(state) ? state : event.isReachable ? { kind: 'pending', id: event.id } : { kind: 'unreachable' };
    case 'late': return state.kind === 'pending' ? { kind: 'late', id: state.id } : state;
    case 'done': return isAnswer ? { kind: 'done' } : state;
    case 'refused': return isAnswer ? { kind: 'refused', why: event.why } : state;
    case 'rest': return isBusy(state) ? state : atRest;
    default: return state;
  }
}

// A button that answers at once: it shows that its request is on the way, then the outcome.

export class PressButton {
  #state = atRest;
  #count = 0;
  #timer = 0;
  #texts = {};
  #icon = '';
  #isClosed = false;

  /**
   * @param {object} context The page's context.
   * @param {object} options
   * @param {string} options.name The value of `data-name`.
   * @param {() => Promise} options.run Sends the request. It throws an error with a sentence if that fails.
   * @param {(sentence: string) => void} options.tell Shows a sentence near the button, and with '' removes it.
   * @param {() => void} options.changed Called after each change of the state.
   */
  constructor({ t, isReachable, fail }, { name, run, tell, changed = () => {}, ...properties }) {
    Object.assign(this, { t, isReachable, fail, run, tell, changed });
    this.label = h('span', { class: 'press-label' });
    this.element = h('button', { type: 'button', class: 'press', 'data-name': name, onclick: () => this.press(), ...properties }, this.label);
  }

  /** Sets the texts `{ rest, pending, done }`, and the icon. A missing text is that of `rest`. */
  set(texts, iconName) {
    this.#texts = texts;
    if (iconName !== this.#icon) {
      this.#icon = iconName;
      this.element.querySelector('svg')?.remove();
      if (iconName) this.element.prepend(icon(iconName));
    }
    this.#show();
  }

  get state() { return this.#state; }

  /** Carries the press out, unless an answer is awaited. */
  async press() {
    if (isBusy(this.#state) || this.element.getAttribute('aria-disabled') === 'true') return;
    this.tell('');
    this.#count += 1;
    const id = this.#count;
    this.#move({ kind: 'press', id, isReachable: this.isReachable() });
    if (this.#state.kind === 'unreachable') {
      this.tell(this.t('press.unreachable.why'));
      return;
    }
    try {
      await this.run();
      if (!this.#isClosed) this.#move({ kind: 'done', id });
    } catch (error) {
      // The page was left meanwhile.
      if (this.#isClosed) this.fail(error);
      else this.#move({ kind: 'refused', id, why: error.message });
    }
  }

  /** The connection is lost. The outcome of a press on the way is not known. */
  lose() { this.#move({ kind: 'refused', id: this.#state.id, why: this.t('connection.unknown') }); }

  /** The cause of a refusal has ended. */
  rest() { this.#move({ kind: 'rest' }); }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #move(event) {
    const before = this.#state;
    this.#state = after(before, event);
    if (this.#state === before) return;
    clearTimeout(this.#timer);
    const next = followUps[this.#state.kind];
    if (next) {
      this.#timer = setTimeout(() => {
        if (this.#state.kind === 'unreachable') this.tell('');
        this.#move(next.event);
      }, next.after);
    }
    if (this.#state.kind === 'refused') this.tell(this.#state.why);
    this.#show();
    this.changed();
  }

  #show() {
    const { kind } = this.#state;
    const text = kind === 'late' ? this.t('press.late') : kind === 'unreachable' ? this.t('press.unreachable') : this.#texts[kind] ?? this.#texts.rest;
    setText(this.label, text);
    this.element.dataset.press = kind;
    if (isBusy(this.#state)) this.element.setAttribute('aria-busy', 'true');
    else this.element.removeAttribute('aria-busy');
  }
}

// The buttons at the bottom of the screen: record and mark in one place, stop in the other, as on the panel.

/**
 * Which buttons are shown, by their names.
 * @param {string} state The kit's state.
 * @param {number} secondsLeft How long the take that was stopped last can still be continued.
 * @param {boolean} showsStop Whether stop was pressed, and its outcome is still shown.
 */
export function thumbsOf(state, secondsLeft, showsStop) {
  if (state === 'recording') return { left: 'mark', right: 'stop', hasStop: true };
  if (state === 'playing' || state === 'paused') return { left: 'record', right: 'stop', hasStop: true };
  const mayContinue = secondsLeft > 0;
  return { left: mayContinue ? 'fresh' : 'record', right: mayContinue && !showsStop ? 'rejoin' : 'stop', hasStop: showsStop };
}

export class Thumbs {
  #state = '';
  #continuesUntil = 0;
  #timer = 0;

  /**
   * @param {object} context The page's context.
   * @param {() => Promise} mark Sets a marker.
   */
  constructor(context, mark) {
    const { t, api } = context;
    this.t = t;
    this.problem = h('p', { class: 'thumbs-problem is-error', role: 'alert', hidden: true });
    const tell = (sentence) => {
      this.problem.textContent = sentence;
      this.problem.hidden = !sentence;
    };
    const post = (name) => api.post(`/api/deck/${name}`);
    const make = (name, texts, iconName, run) => {
      const made = new PressButton(context, { name, run, tell, changed: () => this.#arrange(), class: `press thumb is-${name}` });
      made.set(texts, iconName);
      return made;
    };
    const recording = { pending: t('press.recording'), done: t('press.recording') };
    this.buttons = {
      record: make('record', { rest: t('deck.record'), ...recording }, 'record', () => post('record')),
      fresh: make('fresh', { rest: t('deck.fresh'), ...recording }, 'record', async () => {
        // Stop gives the last take up; otherwise record would continue it.
        await post('stop');
        await post('record');
      }),
      mark: make('mark', { rest: t('deck.mark'), pending: t('press.marking'), done: t('press.marked') }, 'mark', mark),
      stop: make('stop', { rest: t('deck.stop'), pending: t('press.stopping'), done: t('press.stopped') }, 'stop', () => post('stop')),
      rejoin: make('rejoin', { rest: t('deck.rejoin'), ...recording }, '', () => post('record')),
    };
    // The seconds change, and the button's name does not.
    this.seconds = h('span', { class: 'press-more', 'aria-hidden': 'true' });
    this.buttons.rejoin.element.append(this.seconds);
    this.element = h('section', { class: 'thumbs', 'aria-label': t('deck.buttons') },
      this.problem, h('div', { class: 'thumb-row' }, ...Object.values(this.buttons).map(({ element }) => element)));
  }

  /** @param {object} status With `heardAt`, the time at which it came. */
  show({ state, rejoin_seconds_left: left = 0, heardAt = performance.now() }) {
    if (state !== this.#state) for (const each of Object.values(this.buttons)) if (each.state.kind === 'refused') this.#clear(each);
    this.#state = state;
    this.#continuesUntil = heardAt + 1000 * left;
    this.#arrange();
  }

  /** Whether the take that was stopped last can still be continued. */
  get mayContinue() { return performance.now() < this.#continuesUntil; }

  lose() { for (const each of Object.values(this.buttons)) each.lose(); }

  /** The kit is connected again, and the page shows what is true. */
  reach() { for (const each of Object.values(this.buttons)) if (each.state.kind !== 'done') this.#clear(each); }

  close() {
    clearTimeout(this.#timer);
    for (const each of Object.values(this.buttons)) each.close();
    this.element.remove();
  }

  #clear(pressed) {
    if (pressed.state.kind === 'refused' || pressed.state.kind === 'unreachable') pressed.tell('');
    pressed.rest();
  }

  #arrange() {
    if (!this.#state) return;
    const left = Math.ceil((this.#continuesUntil - performance.now()) / 1000);
    const { stop } = this.buttons;
    const shown = thumbsOf(this.#state, left, isBusy(stop.state) || stop.state.kind === 'done');
    const focused = document.activeElement;
    for (const [name, { element }] of Object.entries(this.buttons)) element.hidden = name !== shown.left && name !== shown.right;
    if (shown.hasStop) stop.element.removeAttribute('aria-disabled');
    else stop.element.setAttribute('aria-disabled', 'true');
    this.seconds.textContent = left > 0 ? this.t('span.seconds', { n: left }) : '';
    if (focused?.hidden && this.element.contains(focused)) {
      this.buttons[['stop', 'rejoin'].includes(focused.dataset.name) ? shown.right : shown.left].element.focus();
    }
    clearTimeout(this.#timer);
    if (left > 0) this.#timer = setTimeout(() => this.#arrange(), 1000);
  }
}

// The live waveform, scrolling from right to left.

/** The live spectrogram shows the same time. */
export const shownSeconds = 60;
const columnsPerSecond = 40;

/** A canvas for `peaks` events. */
export class LiveWave {
  /** The least and the greatest sample of each column, or null where they are missing. */
  #columns = [];
  #channels = 1;
  /** The pixels of a column. */
  #pooled = 1;
  /** The numbers of the next pixel and of the last column. */
  #next = 0;
  #last = 0;
  #isDue = false;
  #isStill = matchMedia('(prefers-reduced-motion: reduce)');
  #drawn = 0;

  constructor(label) {
    this.canvas = h('canvas', { class: 'live', role: 'img', 'aria-label': label });
    this.element = this.canvas;
  }

  add({ channels, rate_hz: rate, frames_per_pixel: framesPerPixel, first_pixel: first, data }) {
    const pooled = Math.max(1, Math.floor(rate / framesPerPixel / columnsPerSecond));
    // A reopened card starts at 0.
    if (first < this.#next || channels !== this.#channels || pooled !== this.#pooled) this.#columns = [];
    this.#channels = channels;
    this.#pooled = pooled;
    for (let index = 0; index + 2 * channels <= data.length; index += 2 * channels) {
      let least = 0;
      let most = 0;
      for (let channel = 0; channel < channels; channel += 1) {
        least = Math.min(least, data[index + 2 * channel]);
        most = Math.max(most, data[index + 2 * channel + 1]);
      }
      this.#put(Math.floor((first + index / (2 * channels)) / pooled), least, most);
    }
    this.#next = first + data.length / (2 * channels);
    this.#count = Math.ceil(shownSeconds * rate / framesPerPixel / pooled);
    if (this.#columns.length > 2 * this.#count) this.#columns = this.#columns.slice(-this.#count);
    this.#draw();
  }

  close() { this.#columns = []; }

  /** Adds a pixel to its column. Missing columns appear as a gap. */
  #put(column, least, most) {
    const columns = this.#columns;
    if (columns.length && column === this.#last) {
      const last = columns.at(-1);
      columns[columns.length - 1] = [Math.min(last[0], least), Math.max(last[1], most)];
      return;
    }
    for (let missing = columns.length ? Math.min(column - this.#last - 1, this.#count) : 0; missing > 0; missing -= 1) columns.push(null);
    columns.push([least, most]);
    this.#last = column;
  }

  #count = 1;

  #draw() {
    const now = performance.now();
    if (this.#isDue || document.hidden || (this.#isStill.matches && now - this.#drawn < 1000)) return;
    this.#isDue = true;
    this.#drawn = now;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#paint();
    });
  }

  #paint() {
    const { canvas } = this;
    const scale = devicePixelRatio;
    const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
    if (!width) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext('2d');
    context.clearRect(0, 0, width, height);
    context.fillStyle = getComputedStyle(canvas).getPropertyValue('--accent');
    const each = this.#count / width;
    const end = this.#columns.length;
    for (let column = 0; column < width; column += 1) {
      const last = end - (width - 1 - column) * each;
      let least = 0;
      let most = 0;
      for (let index = Math.max(0, Math.floor(last - each)); index < last; index += 1) {
        const found = this.#columns[index];
        if (!found) continue;
        least = Math.min(least, found[0]);
        most = Math.max(most, found[1]);
      }
      if (last > 0) context.fillRect(column, height / 2 * (1 - most / 128), 1, Math.max(1, (most - least) / 256 * height));
    }
  }
}

// Level meters: one bar for each channel with RMS and peak, the held peak, and a clip indicator that stays until it is tapped.

const floor = -60;
const holdMilliseconds = 1500;
const clipped = -0.05;
/** The ends of the zones in dBFS, as in the style sheet: good, loud, and nearly too loud. */
const [loud, hot] = [-10, -3];
const scale = [-60, -40, -20, -10, 0];

/** The share of the bar that a level fills. */
export const share = (decibels) => Math.min(1, Math.max(0, 1 - (decibels ?? floor) / floor));

/** The zone of a peak: `good`, `loud` or `hot`. */
export const zone = (decibels) => ((decibels ?? floor) < loud ? 'good' : decibels < hot ? 'loud' : 'hot');

/** The meters of all channels. `show` receives `level_dbfs` of a level event. */
export class Meters {
  #channels = [];

  constructor({ t }) {
    this.t = t;
    this.element = h('div', { class: 'meters' });
  }

  show(levels) {
    if (levels.length !== this.#channels.length) this.#build(levels.length);
    const now = performance.now();
    levels.forEach(({ peak, rms }, index) => {
      const channel = this.#channels[index];
      if (peak !== null && (peak >= channel.hold || now - channel.heldAt > holdMilliseconds)) {
        channel.hold = peak;
        channel.heldAt = now;
      }
      fill(channel.rms, share(rms));
      fill(channel.peak, share(peak));
      channel.mark.style.left = `calc(${100 * share(channel.hold)}% - 3px)`;
      channel.mark.hidden = channel.hold <= floor;
      channel.figure.textContent = peak === null ? this.t('deck.silence') : `${fixedText(channel.hold, 1)} dB`;
      channel.figure.dataset.zone = zone(peak === null ? null : channel.hold);
      if (peak !== null && peak >= clipped && !channel.isClipped) this.#clip(channel, true);
    });
  }

  close() { this.#channels = []; }

  #build(count) {
    const { t } = this;
    this.#channels = Array.from({ length: count }, (_, index) => {
      const bar = (name) => h('span', { class: name }, h('span', { class: 'meter-zones' }));
      const channel = {
        hold: floor, heldAt: 0, isClipped: false, rms: bar('meter-rms'), peak: bar('meter-peak'), mark: h('span', { class: 'meter-hold' }),
        figure: h('span', { class: 'meter-figure' }),
      };
      channel.sign = button(t('deck.clip'), () => this.#clip(channel, false), { class: 'clip', 'aria-label': t('deck.clip.reset', { n: index + 1 }), hidden: true });
      return channel;
    });
    this.element.replaceChildren(
      ...this.#channels.map((channel, index) => h('div', { class: 'meter', role: 'group', 'aria-label': t('deck.channel', { n: index + 1 }) },
        h('span', { class: 'meter-name', 'aria-hidden': 'true' }, String(index + 1)),
        h('span', { class: 'meter-bar', 'aria-hidden': 'true' }, channel.peak, channel.rms, channel.mark), channel.figure, channel.sign)),
      count ? scaleElement() : '');
    this.#showSigns();
  }

  #clip(channel, isClipped) {
    channel.isClipped = isClipped;
    channel.sign.hidden = !isClipped;
    this.#showSigns();
  }

  /** All bars have the same width, whether or not one shows that it clipped. */
  #showSigns() { this.element.classList.toggle('is-clipped', this.#channels.some(({ isClipped }) => isClipped)); }
}

/** Shows this share of a bar. Its zones are not scaled with it. */
function fill(bar, part) {
  bar.style.transform = `scaleX(${part})`;
  bar.firstChild.style.transform = `scaleX(${1 / Math.max(part, 1e-3)})`;
}

function scaleElement() {
  const marks = scale.map((decibels) => {
    const mark = h('span', {}, signedText(decibels));
    mark.style.left = `${100 * share(decibels)}%`;
    return mark;
  });
  return h('div', { class: 'meter-scale', 'aria-hidden': 'true' }, h('div', {}, ...marks), h('span', {}, 'dB'));
}
