// The markers of a take: a list to go to them, and to describe, set and remove them.
import { lengthText } from './takes-format.js';
import { button, h } from './dom.js';

// A take with more markers shows the first ones.
const mostShown = 1000;

/** The data of a program in a marker, such as `Turdus merula, 0.83, birdnet, 1500–8000 Hz`. */
function foundText({ label, score, by, low_hz: low = '', high_hz: high = '' }) {
  const band = low === '' && high === '' ? undefined : `${low}–${high} Hz`;
  return [label, score, by, band].filter((text) => text !== undefined).join(', ');
}

export class TakePlaces {
  #markers = [];
  #wanted = null;
  #isPressed = false;
  #isLate = false;

  /**
   * @param {number} rate Frames a second.
   * @param {object} options `t`, `mayChange`, `frame()` of the playhead, `onSeek(frame)`, `save(changes)` (a promise).
   */
  constructor(rate, options) {
    Object.assign(this, { rate, options });
    const { t, mayChange } = options;
    this.list = h('div');
    // A pressed button must still exist when it is released.
    this.list.addEventListener('pointerdown', () => { this.#isPressed = true; });
    this.release = () => {
      if (!this.#isPressed) return;
      this.#isPressed = false;
      // After the click that follows.
      setTimeout(() => { if (this.#isLate) this.show(this.#markers); });
    };
    addEventListener('pointerup', this.release);
    addEventListener('pointercancel', this.release);
    this.element = h('section', { 'aria-labelledby': 'places-title' },
      h('h2', { id: 'places-title' }, t('take.places')), this.list,
      this.adding = mayChange ? button(t('place.add'), () => this.add()) : null);
  }

  /** Shows markers, `[{at_frame, note}]`. A note that is being edited stays, and so does the list around it. */
  show(markers) {
    this.#markers = markers;
    const focused = this.list.contains(document.activeElement) ? document.activeElement : null;
    const isEdited = focused?.matches('input') && focused.value !== focused.defaultValue;
    this.#isLate = this.#isPressed || (this.#wanted === null && isEdited);
    if (this.#isLate) return;
    const key = this.#wanted === null ? focused?.dataset.key : `note ${this.#wanted}`;
    const place = focused ? [...this.list.querySelectorAll('[data-key]')].indexOf(focused) : -1;
    this.#wanted = null;
    this.#fill();
    if (key === undefined) return;
    // The focus stays on its element, or moves to the neighbour after a removal.
    const elements = [...this.list.querySelectorAll('[data-key]')];
    (elements.find((element) => element.dataset.key === key) ?? elements[Math.min(place, elements.length - 1)] ?? this.adding)?.focus();
  }

  /** Stops listening for pointer events. */
  close() {
    removeEventListener('pointerup', this.release);
    removeEventListener('pointercancel', this.release);
  }

  /** Sets a marker at the playhead, and lets the person describe it. */
  async add() {
    if (!this.options.mayChange) return;
    const frame = Math.round(this.options.frame());
    const there = this.#markers.find((marker) => marker.at_frame === frame);
    this.#wanted = frame;
    if (there) this.show(this.#markers);
    else await this.options.save({ set: [{ at_frame: frame, note: null }] });
    this.#wanted = null;
  }

  #fill() {
    const { t } = this.options;
    const items = this.#markers.slice(0, mostShown).map((marker) => this.#item(marker));
    if (this.#markers.length > mostShown) items.push(h('li', {}, t('take.more', { n: this.#markers.length - mostShown })));
    this.list.replaceChildren(
      items.length ? h('ol', { class: 'places', role: 'list' }, ...items) : h('p', { class: 'hint' }, t('take.noplaces')));
  }

  #item({ at_frame: frame, note, end_frame: end, ...found }) {
    const { t, mayChange, onSeek, save } = this.options;
    const time = lengthText(frame / this.rate, 3);
    const span = end === undefined ? time : `${time} – ${lengthText(end / this.rate, 3)}`;
    const go = button(span, () => onSeek(frame), { class: 'place', 'data-key': `go ${frame}` });
    const words = foundText(found);
    const what = words ? h('span', {}, words) : null;
    if (!mayChange) return h('li', {}, go, what, h('span', {}, note ?? ''));
    const input = h('input', {
      type: 'text', value: note ?? '', maxlength: 250, autocomplete: 'off', 'data-frame': frame, 'data-key': `note ${frame}`, 'aria-label': t('place.note', { time }),
      onchange: () => save({ set: [{ at_frame: frame, note: input.value.trim() || null }] }),
    });
    input.addEventListener('keydown', (event) => { if (event.key === 'Enter') input.blur(); });
    return h('li', {}, go, what, input, button('×', () => save({ remove: [frame] }), { 'aria-label': t('place.remove', { time }), 'data-key': `remove ${frame}` }));
  }
}
