// A picture of sound over time: an overview and lanes with one zoom, one playhead and one selection, and the layer for fingers and keys.
//
// A lane is an object with
//   name          the class of its canvas is NAME-canvas
//   height        in CSS units
//   draw(context, box, view, colours)   draws; `box` has its size in pixels, their `scale`, and the size of `text`
//   describe(view) the description of its canvas; a lane without it is decoration
//   scale         a FrequencyScale, if a box in it selects frequencies
//   state         an element that is shown over the canvas, if the lane says what it lacks
import { h, onColours } from './dom.js';
import { lengthText } from './format.js';
import { coloursOf, oppositeOf, selected } from './marks.js';
import { View } from './waveform.js';

// What fingers and the mouse do in a timeline: pointer events go in, actions come out, and the timeline carries them out.

/** A pointer that moved less than this, in pixels, was held still. */
const stillPixels = 8;
/** A tap is shorter than this, in milliseconds. */
const longestTap = 800;
/** The second tap of a double tap follows within this time and distance. */
const longestPause = 350;
const doublePixels = 30;
/** Fingers that are closer than this, in pixels, are not measured any further. */
const leastSpread = 20;

const none = { kind: 'none' };

/**
 * The state of the pointers. A pointer is `{ id, x, y, at }` with pixels of the picture and milliseconds. Each event returns an action:
 * - `tap` at `x`: seek.
 * - `zoom` at `x`: a double tap.
 * - `pan` by `by` pixels to the right.
 * - `pinch`: what was at `from` is now at `to`, and the visible range is `factor` times as long.
 * - `box` between the points `from` and `to`, and `boxed` once it is finished.
 * - `corner`: the dragged corner of the selection is at `x`, `y`.
 * - `none`.
 */
export class Gestures {
  #state = { kind: 'idle' };
  #lastTap = null;

  /** Whether fingers move the picture or the selection. */
  get isActive() { return this.#state.kind !== 'idle'; }

  /**
   * A pointer is pressed.
   * @param {'pan' | 'box' | 'corner'} aim What a drag is for.
   */
  down(pointer, aim) {
    const state = this.#state;
    if (state.kind === 'idle') {
      this.#state = aim === 'corner' ? { kind: 'corner', pointer } : { kind: 'pressed', aim, start: pointer, pointer };
    } else if (state.kind !== 'pinch') {
      // Two fingers zoom, whatever the first one was for.
      this.#state = { kind: 'pinch', pointers: [state.pointer, pointer] };
    }
    return none;
  }

  move(pointer) {
    const state = this.#state;
    switch (state.kind) {
      case 'pressed': return state.pointer.id === pointer.id ? this.#drag(state, pointer) : none;
      case 'pan': return state.pointer.id === pointer.id ? this.#pan(state.pointer, pointer) : none;
      case 'box':
        if (state.pointer.id !== pointer.id) return none;
        this.#state = { ...state, pointer };
        return { kind: 'box', from: point(state.start), to: point(pointer) };
      case 'corner':
        if (state.pointer.id !== pointer.id) return none;
        this.#state = { ...state, pointer };
        return { kind: 'corner', ...point(pointer) };
      case 'pinch': return this.#pinch(state.pointers, pointer);
      case 'idle': return none;
    }
  }

  up(pointer) {
    const state = this.#state;
    if (!this.#end(pointer)) return none;
    if (state.kind === 'box') return { kind: 'boxed' };
    return state.kind === 'pressed' && pointer.at - state.start.at < longestTap ? this.#tap(pointer) : none;
  }

  /** The browser took the pointer, because the page is being scrolled. */
  cancel(pointer) {
    this.#end(pointer);
    return none;
  }

  /** Removes a pointer. Returns whether it was one of the gesture's. */
  #end({ id }) {
    const state = this.#state;
    const pointers = state.pointers ?? (state.pointer ? [state.pointer] : []);
    const left = pointers.filter((pointer) => pointer.id !== id);
    if (left.length === pointers.length) return false;
    // The finger that is left after a pinch moves the picture, and does not seek when it is lifted.
    this.#state = left.length ? { kind: 'pan', pointer: left[0] } : { kind: 'idle' };
    return true;
  }

  #drag({ aim, start }, pointer) {
    if (Math.hypot(pointer.x - start.x, pointer.y - start.y) <= stillPixels) return none;
    if (aim === 'pan') return this.#pan(start, pointer);
    this.#state = { kind: 'box', start, pointer };
    return { kind: 'box', from: point(start), to: point(pointer) };
  }

  #pan(before, pointer) {
    this.#state = { kind: 'pan', pointer };
    return { kind: 'pan', by: pointer.x - before.x };
  }

  #pinch(pointers, pointer) {
    const moved = pointers.map((one) => (one.id === pointer.id ? pointer : one));
    this.#state = { kind: 'pinch', pointers: moved };
    return { kind: 'pinch', factor: spread(pointers) / spread(moved), from: middle(pointers), to: middle(moved) };
  }

  #tap(pointer) {
    const last = this.#lastTap;
    const isDouble = last !== null && pointer.at - last.at < longestPause && Math.hypot(pointer.x - last.x, pointer.y - last.y) < doublePixels;
    this.#lastTap = isDouble ? null : pointer;
    return { kind: isDouble ? 'zoom' : 'tap', x: pointer.x };
  }
}

function point({ x, y }) { return { x, y }; }

function middle([a, b]) { return (a.x + b.x) / 2; }

function spread([a, b]) { return Math.max(leastSpread, Math.hypot(a.x - b.x, a.y - b.y)); }

const corners = ['nw', 'ne', 'sw', 'se'];
const doubleTapZoom = 1 / 4;
/** The corners of a selection that is narrower, in pixels, are moved apart. */
const narrow = 40;

export class Timeline {
  #gestures = new Gestures();
  #frame = 0;
  #isDrawing = false;
  #said = -1;
  /** Whether the picture scrolls with the playhead. A person who moves the picture away from it ends that. */
  #follows = true;
  #width = 0;
  #anchor = null;
  #colours = null;
  #overviewState = '';

  /**
   * @param {{frames: number, rate_hz: number, duration_seconds: number}} take
   * @param {object[]} lanes From top to bottom.
   * @param {object} options `t` and `onSeek(frame)`; `overview` (a lane with `drawWhole` and `wholeState`) for a picture of the whole above
   * the lanes; `onSelect()` and `onBoxing()` if boxes can be drawn; `label` and `timeText(seconds)` of the playhead, by default those of a
   * take.
   */
  constructor(take, lanes, options) {
    Object.assign(this, { take, lanes, options });
    this.selection = null;
    /** Whether a drag draws a box. */
    this.isBoxing = false;
    this.view = new View(take.frames);
    this.whole = new View(take.frames);
    this.#build();
    this.resized = new ResizeObserver(() => this.#resize());
    for (const element of [this.box, this.strip, ...lanes.map(({ canvas }) => canvas)]) this.resized.observe(element);
    this.endColours = onColours(() => this.#recolour());
  }

  /** Ends requests and observation. */
  close() {
    // A frame that is due draws nothing, and requests nothing.
    this.#width = 0;
    for (const lane of this.lanes) lane.close?.();
    this.resized.disconnect();
    this.endColours();
  }

  /** Whether fingers move the picture or the selection. */
  get isTouched() { return this.#gestures.isActive; }

  /** Moves the playhead. */
  setFrame(frame) {
    this.#frame = frame;
    const share = (frame - this.view.from) / this.view.length;
    this.head.hidden = share < 0 || share > 1;
    this.head.style.setProperty('transform', `translateX(${share * this.#width}px)`);
    this.stripHead.style.setProperty('transform', `translateX(${(frame / this.whole.length) * this.#width}px)`);
    this.#say();
  }

  /** Scrolls to the playhead if it is out of view. */
  reveal() {
    this.#follows = true;
    this.follow();
  }

  /** Scrolls with the playhead during playback, unless a person looks elsewhere. */
  follow() {
    if (this.#isSeen) this.#follows = true;
    else if (this.#follows && !this.#gestures.isActive && this.view.follow(this.#frame)) this.changed();
  }

  get #isSeen() { return this.#frame >= this.view.from && this.#frame < this.view.to; }

  /** Zooms around the playhead if it is visible, else around the middle. */
  zoom(factor) {
    this.view.zoom(factor, this.#isSeen ? this.#frame : (this.view.from + this.view.to) / 2);
    this.changed();
  }

  /** Shows a range, by default the whole take. */
  show(from = 0, to = this.take.frames) {
    this.view.show(from, to);
    this.#moved();
  }

  /** Selects what lies between the ends of a `Selection` in any order; null for nothing. */
  select(ends) {
    this.selection = ends && selected(ends, this.take);
    this.#placeSelection();
    this.options.onSelect();
  }

  /** Whether the next drag draws a box. */
  setBoxing(isBoxing) {
    this.isBoxing = isBoxing;
    this.box.classList.toggle('is-boxing', isBoxing);
    this.options.onBoxing();
  }

  /** Redraws after a change of the range. */
  changed() {
    this.draw();
    this.setFrame(this.#frame);
  }

  /** Redraws after a person changed the range. */
  #moved() {
    this.#follows = this.#isSeen;
    this.changed();
  }

  /** Draws with the next animation frame. */
  draw() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      if (!this.#width) return;
      this.#colours ??= coloursOf(this.element);
      for (const lane of this.lanes) this.#drawLane(lane);
      this.#drawOverview();
      this.#placeSelection();
    });
  }

  #build() {
    const { t } = this.options;
    for (const lane of this.lanes) {
      lane.canvas = h('canvas', { class: `${lane.name}-canvas`, ...(lane.describe ? { role: 'img' } : { 'aria-hidden': 'true' }) });
      lane.canvas.style.setProperty('height', lane.height);
    }
    this.head = h('div', { class: 'wave-head' });
    this.shade = h('div', { class: 'pick-time', hidden: true });
    this.pick = h('div', { class: 'pick', hidden: true }, ...corners.map((corner) => h('span', { class: `pick-corner is-${corner}`, 'data-corner': corner })));
    this.touch = h('div', {
      class: 'wave-touch', role: 'slider', tabindex: 0, 'aria-label': this.options.label ?? t('take.position'), 'aria-valuemin': 0,
      'aria-valuemax': Math.round(this.take.duration_seconds), 'aria-valuenow': 0,
    });
    this.box = h('div', { class: 'wave-box' },
      ...this.lanes.map(({ canvas, state }) => (state ? h('div', { class: 'wave-lane' }, canvas, state) : canvas)), this.shade, this.head, this.touch, this.pick);
    this.overview = h('canvas', { class: 'wave-overview', 'aria-hidden': 'true' });
    this.window = h('div', { class: 'wave-window' });
    this.stripHead = h('div', { class: 'wave-head' });
    this.stripShade = h('div', { class: 'pick-time', hidden: true });
    this.strip = h('div', { class: 'wave-strip' }, this.overview, this.stripShade, this.window, this.stripHead);
    this.element = h('div', { class: 'wave' }, this.options.overview ? this.strip : null, this.box);
    this.#followPointers();
    this.#followStrip();
    this.box.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
  }

  #recolour() {
    this.#colours = null;
    this.#resize();
  }

  /** Sizes are read only when they change, because reading them while the picture moves is slow. */
  #resize() {
    const scale = Math.min(2, devicePixelRatio);
    const text = 0.75 * parseFloat(getComputedStyle(document.documentElement).fontSize) * scale;
    const sized = ({ clientWidth, clientHeight, offsetTop }) => ({
      x: 0, y: 0, width: Math.round(clientWidth * scale), height: Math.round(clientHeight * scale), scale, text, top: offsetTop, room: clientHeight,
    });
    this.#width = this.box.clientWidth;
    for (const lane of this.lanes) lane.box = sized(lane.canvas);
    this.overviewBox = sized(this.overview);
    this.changed();
  }

  #prepare(canvas, { width, height }) {
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const context = canvas.getContext('2d');
    context.clearRect(0, 0, width, height);
    return context;
  }

  #drawLane(lane) {
    lane.draw(this.#prepare(lane.canvas, lane.box), lane.box, this.view, this.#colours);
    const text = lane.describe?.(this.view);
    if (text !== lane.canvas.getAttribute('aria-label') && text) lane.canvas.setAttribute('aria-label', text);
  }

  #drawOverview() {
    const { whole, view, overviewBox: box } = this;
    if (!this.options.overview) return;
    const width = this.#width;
    this.window.hidden = view.length >= whole.length;
    this.window.style.setProperty('transform', `translateX(${(view.from / whole.length) * width}px)`);
    this.window.style.setProperty('width', `${Math.max(4, (view.length / whole.length) * width)}px`);
    const lane = this.options.overview;
    const state = [box.width, box.height, this.#colours.wave, lane.wholeState].join();
    if (state === this.#overviewState) return;
    this.#overviewState = state;
    lane.drawWhole(this.#prepare(this.overview, box), box, whole, this.#colours);
  }

  /** The lane in which a box selects frequencies. A selection covers it and the lanes above it. */
  get #bandLane() { return this.lanes.find(({ scale }) => scale); }

  #placeSelection() {
    const { selection, view } = this;
    for (const element of [this.shade, this.pick, this.stripShade]) element.hidden = !selection;
    if (!selection || !this.#width) return;
    const { top, room } = this.#bandLane.box;
    place(this.stripShade, selection, this.whole, this.#width);
    place(this.shade, selection, view, this.#width);
    place(this.pick, selection, view, this.#width);
    this.shade.style.setProperty('height', `${selection.band ? top : top + room}px`);
    const y = (hertz) => top + room * (1 - Math.min(1, Math.max(0, this.#bandLane.scale.share(hertz))));
    const [upper, lower] = selection.band ? [y(selection.band.high), y(selection.band.low)] : [0, top + room];
    this.pick.classList.toggle('is-narrow', parseFloat(this.pick.style.width) < narrow);
    this.pick.style.setProperty('top', `${upper}px`);
    this.pick.style.setProperty('height', `${Math.max(4, lower - upper)}px`);
  }

  #say() {
    const seconds = Math.floor(this.#frame / this.take.rate_hz);
    if (seconds === this.#said) return;
    this.#said = seconds;
    this.touch.setAttribute('aria-valuenow', seconds);
    this.touch.setAttribute('aria-valuetext', this.options.timeText?.(seconds) ?? this.options.t('take.at', {
      time: lengthText(seconds), length: lengthText(this.take.duration_seconds),
    }));
  }

  #followPointers() {
    const { box } = this;
    const act = (event, kind) => {
      const { left, top } = box.getBoundingClientRect();
      this.#act(this.#gestures[kind]({ id: event.pointerId, x: event.clientX - left, y: event.clientY - top, at: event.timeStamp }, this.#aim(event)));
    };
    box.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      box.setPointerCapture(event.pointerId);
      const { corner } = event.target.dataset;
      if (corner && !this.#gestures.isActive) this.#anchor = oppositeOf(corner, this.selection);
      act(event, 'down');
    });
    box.addEventListener('pointermove', (event) => act(event, 'move'));
    box.addEventListener('pointerup', (event) => act(event, 'up'));
    box.addEventListener('pointercancel', (event) => act(event, 'cancel'));
  }

  #aim({ target, shiftKey }) {
    if (target.dataset.corner) return 'corner';
    if (!this.options.onSelect) return 'pan';
    return shiftKey || this.isBoxing ? 'box' : 'pan';
  }

  #act(action) {
    switch (action.kind) {
      case 'none': break;
      case 'tap': this.options.onSeek(this.#frameAt(action.x)); break;
      case 'zoom':
        this.view.zoom(doubleTapZoom, this.#frameAt(action.x));
        this.#moved();
        break;
      case 'pan':
        this.view.pan((-action.by / this.#width) * this.view.length);
        this.#moved();
        break;
      case 'pinch': this.#pinch(action); break;
      case 'box': this.#drawBox(action); break;
      case 'boxed': this.setBoxing(false); break;
      case 'corner': this.#dragCorner(action); break;
    }
  }

  /** Keeps the same frame between the fingers. */
  #pinch({ factor, from, to }) {
    const frame = this.#frameAt(from);
    this.view.zoom(factor, frame);
    this.view.pan(frame - this.#frameAt(to));
    this.#moved();
  }

  /** A box that begins in the spectrogram has frequencies. */
  #drawBox({ from, to }) {
    const { top } = this.#bandLane.box;
    const band = from.y >= top ? { low: this.#hertzAt(from.y), high: this.#hertzAt(to.y) } : null;
    this.select({ from: this.#frameAt(from.x), to: this.#frameAt(to.x), band });
  }

  #dragCorner({ x, y }) {
    const { frame, hertz } = this.#anchor;
    const band = hertz === null ? null : { low: hertz, high: this.#hertzAt(y) };
    this.select({ from: frame, to: this.#frameAt(x), band });
  }

  #frameAt(x) { return this.view.from + Math.min(1, Math.max(0, x / this.#width)) * this.view.length; }

  #hertzAt(y) {
    const { box: { top, room }, scale } = this.#bandLane;
    return scale.hertz(1 - Math.min(1, Math.max(0, (y - top) / room)));
  }

  #wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    const [x, y] = [event.deltaX * lines, event.deltaY * lines];
    const isAcross = event.shiftKey || Math.abs(x) > Math.abs(y);
    if (isAcross) this.view.pan(((x || y) / this.#width) * this.view.length);
    // A trackpad's pinch comes as a wheel event with the control key, in small steps.
    else this.view.zoom(2 ** (y / (event.ctrlKey ? 80 : 250)), this.#frameAt(event.clientX - this.box.getBoundingClientRect().left));
    this.#moved();
  }

  /** The overview moves the visible range. */
  #followStrip() {
    const go = (event) => {
      const { left, width } = this.strip.getBoundingClientRect();
      const frame = ((event.clientX - left) / width) * this.whole.length;
      this.view.pan(frame - (this.view.from + this.view.to) / 2);
      this.#moved();
    };
    this.strip.addEventListener('pointerdown', (event) => this.strip.setPointerCapture(event.pointerId));
    this.strip.addEventListener('pointermove', (event) => { if (event.buttons) go(event); });
    this.strip.addEventListener('click', go);
  }
}

/** Places an element over the visible part of a selection. */
function place(element, { from, to }, view, width) {
  const share = (frame) => Math.min(1.1, Math.max(-0.1, (frame - view.from) / view.length));
  const [left, right] = [share(from) * width, share(to) * width];
  element.style.setProperty('transform', `translateX(${left}px)`);
  element.style.setProperty('width', `${Math.max(2, right - left)}px`);
  if (right <= 0 || left >= width) element.hidden = true;
}
