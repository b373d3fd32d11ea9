// The picture of a take: overview, waveform, playhead and selection, and the actions of fingers, mouse and keys in it.
import { coloursOf, drawAxis, drawPlaces, drawRanges, xOf } from './take-marks.js';
import { View, Peaks, drawSound } from './waveform.js';
import { lengthText } from './takes-format.js';
import { h } from './dom.js';

export class TakeView {
  #pointers = new Map();
  #gesture = null;
  #frame = 0;
  #isDrawing = false;
  #said = -1;

  /**
   * @param {object} take
   * @param {object} sidecar
   * @param {object} options `t`, `onSeek(frame)`, `onSelect()`, `onView(view)`.
   */
  constructor(take, sidecar, options) {
    Object.assign(this, { take, sidecar, options });
    this.places = [];
    this.selection = null;
    this.isSelecting = false;
    this.gain = 1;
    this.view = new View(take.frames);
    this.whole = new View(take.frames);
    this.peaks = new Peaks(take.take, take.frames, () => this.draw());
    this.#build();
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.canvas);
    this.themed = new MutationObserver(() => this.#recolour());
    this.themed.observe(document.documentElement, { attributes: true });
    this.dark = matchMedia('(prefers-color-scheme: dark)');
    this.recolour = () => this.#recolour();
    this.dark.addEventListener('change', this.recolour);
  }

  /** Ends requests and observation. */
  close() {
    this.peaks.close();
    this.resized.disconnect();
    this.themed.disconnect();
    this.dark.removeEventListener('change', this.recolour);
  }

  setFrame(frame) {
    this.#frame = frame;
    const share = (frame - this.view.from) / this.view.length;
    this.head.hidden = share < 0 || share > 1;
    this.head.style.setProperty('transform', `translateX(${share * this.canvas.clientWidth}px)`);
    this.overviewHead.style.setProperty('transform', `translateX(${(frame / this.take.frames) * this.canvas.clientWidth}px)`);
    this.#say();
  }

  /** Scrolls to the playhead if it is out of view. */
  follow() { if (!this.#gesture && this.view.follow(this.#frame)) this.changed(); }

  /** Zooms around the playhead if it is visible, else around the middle. */
  zoom(factor) {
    const isSeen = this.#frame >= this.view.from && this.#frame <= this.view.to;
    this.view.zoom(factor, isSeen ? this.#frame : (this.view.from + this.view.to) / 2);
    this.changed();
  }

  /** Shows a range, by default the whole take. */
  show(from = 0, to = this.take.frames) {
    this.view.show(from, to);
    this.changed();
  }

  /** Selects a range of frames; null for none. */
  select(range) {
    this.selection = range && { from: Math.round(Math.min(range.from, range.to)), to: Math.round(Math.max(range.from, range.to)) };
    if (this.selection?.from === this.selection?.to) this.selection = null;
    this.draw();
    this.options.onSelect();
  }

  /** Scales quiet sound for the display. */
  setGain(gain) {
    this.gain = gain;
    this.draw();
  }

  /** Draws the given markers and memo times. */
  setPlaces(places) {
    this.places = places;
    this.draw();
  }

  /** Redraws after a change of the range. */
  changed() {
    this.draw();
    this.setFrame(this.#frame);
    this.options.onView(this.view);
  }

  /** Draws with the next animation frame. */
  draw() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#drawMain();
      this.#drawOverview();
    });
  }

  #build() {
    const { t } = this.options;
    this.canvas = h('canvas', { class: 'wave-canvas', role: 'img' });
    this.head = h('div', { class: 'wave-head' });
    this.touch = h('div', {
      class: 'wave-touch', role: 'slider', tabindex: 0, 'aria-label': t('take.position'), 'aria-valuemin': 0,
      'aria-valuemax': Math.round(this.take.duration_seconds), 'aria-valuenow': 0,
    });
    this.overview = h('canvas', { class: 'wave-overview', 'aria-hidden': 'true' });
    this.window = h('div', { class: 'wave-window' });
    this.overviewHead = h('div', { class: 'wave-head' });
    this.strip = h('div', { class: 'wave-strip' }, this.overview, this.window, this.overviewHead);
    this.box = h('div', { class: 'wave-box' }, this.canvas, this.head, this.touch);
    this.box.style.setProperty('--channels', Math.min(this.take.channels, 8));
    this.element = h('div', { class: 'wave' }, this.strip, this.box);
    this.#followPointers(this.touch);
    this.#followStrip();
    this.touch.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
  }

  #recolour() {
    this.colours = null;
    this.draw();
  }

  #prepare(canvas, below) {
    this.colours ??= coloursOf(this.element);
    const scale = Math.min(2, devicePixelRatio);
    const width = Math.round(canvas.clientWidth * scale);
    const height = Math.round(canvas.clientHeight * scale);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const context = canvas.getContext('2d');
    context.clearRect(0, 0, width, height);
    const text = 0.75 * parseFloat(getComputedStyle(document.documentElement).fontSize) * scale;
    const box = { x: 0, y: 0, width, height: height - (below ? text * 1.5 : 0), scale, text };
    return { context, box };
  }

  #drawMain() {
    const { canvas, view, sidecar } = this;
    if (!canvas.clientWidth) return;
    const { context, box } = this.#prepare(canvas, true);
    this.#drawSelection(context, box, view);
    drawRanges(context, box, view, sidecar, this.colours);
    this.peaks.begin();
    drawSound(context, box, view, this.peaks, this.take.channels, this.colours, this.gain);
    drawPlaces(context, box, view, sidecar, this.places, this.colours);
    drawAxis(context, box, view, this.take.rate_hz, this.colours);
    canvas.setAttribute('aria-label', this.#description());
  }

  #drawOverview() {
    const { overview, whole, view } = this;
    if (!overview.clientWidth) return;
    const width = overview.clientWidth;
    this.window.style.setProperty('transform', `translateX(${(view.from / whole.length) * width}px)`);
    this.window.style.setProperty('width', `${Math.max(4, (view.length / whole.length) * width)}px`);
    // The overview changes only with its size, its peaks, the selection and the colours.
    const state = [width, overview.clientHeight, this.selection?.from, this.selection?.to, this.colours.wave, this.peaks.coarseCount].join();
    if (state === this.overviewState) return;
    this.overviewState = state;
    const { context, box } = this.#prepare(overview, false);
    this.#drawSelection(context, box, whole);
    drawRanges(context, box, whole, this.sidecar, this.colours);
    drawSound(context, box, whole, this.peaks, this.take.channels, this.colours);
  }

  #drawSelection(context, box, view) {
    if (!this.selection) return;
    const x = xOf(this.selection.from, box, view);
    const end = xOf(this.selection.to, box, view);
    context.fillStyle = this.colours.selection;
    context.fillRect(x, box.y, Math.max(box.scale, end - x), box.height);
  }

  #description() {
    const { t } = this.options;
    const rate = this.take.rate_hz;
    return t('take.picture', {
      from: lengthText(this.view.from / rate, 2), to: lengthText(this.view.to / rate, 2),
      markers: this.places.length, gaps: this.sidecar.gaps.length,
    });
  }

  #say() {
    const seconds = Math.floor(this.#frame / this.take.rate_hz);
    if (seconds === this.#said) return;
    this.#said = seconds;
    this.touch.setAttribute('aria-valuenow', seconds);
    this.touch.setAttribute('aria-valuetext', this.options.t('take.at', {
      time: lengthText(seconds), length: lengthText(this.take.duration_seconds),
    }));
  }

  #frameAt(event) {
    const { left, width } = this.canvas.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    return this.view.from + share * this.view.length;
  }

  #followPointers(element) {
    element.addEventListener('pointerdown', (event) => this.#down(event));
    element.addEventListener('pointermove', (event) => this.#move(event));
    element.addEventListener('pointerup', (event) => this.#up(event, true));
    element.addEventListener('pointercancel', (event) => this.#up(event, false));
  }

  #down(event) {
    if (event.button !== 0) return;
    this.touch.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, event);
    const frame = this.#frameAt(event);
    if (this.#pointers.size === 2) this.#gesture = { kind: 'pinch', ...this.#pinch() };
    else if (event.shiftKey || this.isSelecting) this.#gesture = { kind: 'select', from: frame };
    else this.#gesture = { kind: 'seek', before: this.#frame };
    if (this.#gesture.kind === 'seek') this.setFrame(frame);
  }

  #move(event) {
    if (!this.#pointers.has(event.pointerId)) return;
    this.#pointers.set(event.pointerId, event);
    const gesture = this.#gesture;
    if (gesture?.kind === 'seek') this.setFrame(this.#frameAt(event));
    if (gesture?.kind === 'select') this.select({ from: gesture.from, to: this.#frameAt(event) });
    if (gesture?.kind === 'pinch' && this.#pointers.size === 2) this.#spread(gesture);
  }

  #up(event, isDone) {
    if (!this.#pointers.delete(event.pointerId)) return;
    const gesture = this.#gesture;
    // The second finger of a pinch is lifted later and must not seek.
    this.#gesture = this.#pointers.size ? { kind: 'over' } : null;
    if (gesture?.kind !== 'seek') return;
    if (isDone) this.options.onSeek(this.#frameAt(event));
    else this.setFrame(gesture.before);
  }

  /** The distance of two fingers in pixels, and the frame in the middle between them. */
  #pinch() {
    const [a, b] = [...this.#pointers.values()];
    const middle = { clientX: (a.clientX + b.clientX) / 2 };
    return { distance: Math.max(20, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)), frame: this.#frameAt(middle), length: this.view.length };
  }

  /** Keeps the same frame between the fingers. */
  #spread({ distance, frame, length }) {
    const now = this.#pinch();
    this.view.zoom((length * distance) / now.distance / this.view.length, now.frame);
    this.view.pan(frame - this.#pinch().frame);
    this.changed();
  }

  #wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    const [x, y] = [event.deltaX * lines, event.deltaY * lines];
    const isAcross = event.shiftKey || Math.abs(x) > Math.abs(y);
    if (isAcross) this.view.pan(((x || y) / this.canvas.clientWidth) * this.view.length);
    // A trackpad's pinch comes as a wheel event with the control key, in small steps.
    else this.view.zoom(2 ** (y / (event.ctrlKey ? 80 : 250)), this.#frameAt(event));
    this.changed();
  }

  #followStrip() {
    const go = (event) => {
      const { left, width } = this.strip.getBoundingClientRect();
      const frame = ((event.clientX - left) / width) * this.take.frames;
      this.view.pan(frame - (this.view.from + this.view.to) / 2);
      this.changed();
    };
    this.strip.addEventListener('pointerdown', (event) => {
      this.strip.setPointerCapture(event.pointerId);
      go(event);
    });
    this.strip.addEventListener('pointermove', (event) => { if (event.buttons) go(event); });
  }
}
