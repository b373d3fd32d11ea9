// Where the phone is, as a line of a memo: a geo URI (RFC 5870).
import { button, h } from './dom.js';

const longestWait = 60_000;
/** A line that the button wrote. */
const written = /^geo:-?\d+\.\d{5},-?\d+\.\d{5}(,-?\d+)?;u=\d+$/m;

/** The line of a browser's `GeolocationCoordinates`. Its uncertainty holds for the altitude as well. */
export function positionLine({ latitude, longitude, accuracy, altitude, altitudeAccuracy }) {
  const place = [rounded(latitude, 5), rounded(longitude, 5)];
  if (altitude == null) return `geo:${place};u=${Math.ceil(accuracy)}`;
  return `geo:${place},${rounded(altitude, 0)};u=${Math.ceil(Math.max(accuracy, altitudeAccuracy ?? 0))}`;
}

/** A number without an exponent; zero has no sign. */
function rounded(value, digits) { return (Number(value.toFixed(digits)) + 0).toFixed(digits); }

/**
 * Where a memo has its line of a position, or gets one: `{ text, from, to }`, as `setRangeText` takes it.
 * The line follows what is written: the first line is the title's.
 */
export function positionEdit(memo, line) {
  const old = written.exec(memo);
  return old ? { text: line, from: old.index, to: old.index + old[0].length } : { text: `\n${line}`, from: memo.length, to: memo.length };
}

/** The button that asks the browser where the phone is, with what comes of it. */
export class PositionButton {
  /** `ready`, `waiting` for the browser, or `closed`. */
  #state = 'ready';

  /** Browsers know a position only where the page came over HTTPS, or from the machine itself. */
  static get isOffered() { return isSecureContext && 'geolocation' in navigator; }

  /** @param {object} options `t`, `settled()` (a promise: the memo may be changed), `add(line)` (what came of it: `{ text, isFailure }`). */
  constructor({ t, settled, add }) {
    Object.assign(this, { t, settled, add });
    this.button = button(t('position.add'), () => this.#find(), { 'aria-describedby': 'position-hint' });
    this.hint = h('p', { id: 'position-hint', class: 'hint' }, t('position.hint'));
    this.outcome = h('p', { role: 'status', class: 'position-outcome' });
  }

  get isWaiting() { return this.#state === 'waiting'; }

  /** Ends it: a position that comes later is dropped. */
  close() { this.#state = 'closed'; }

  /** Says no more what came of it: the memo is another one. */
  forget() { this.outcome.textContent = ''; }

  async #find() {
    if (this.#state !== 'ready') return;
    this.#show('waiting', '');
    const { line, why } = await findLine();
    if (line) await this.settled();
    if (this.#state === 'closed') return;
    const { text, isFailure } = why ? { text: this.t(why, { n: longestWait / 1000 }), isFailure: true } : this.add(line);
    this.#show('ready', text, isFailure);
  }

  #show(state, outcome, isFailure = false) {
    this.#state = state;
    this.button.textContent = this.t(this.isWaiting ? 'position.waiting' : 'position.add');
    // A button that is disabled loses the focus.
    this.button.setAttribute('aria-disabled', String(this.isWaiting));
    this.outcome.textContent = outcome;
    this.outcome.classList.toggle('is-warning', isFailure);
  }
}

/** Asks the browser: the line, or the name of the text that says why there is none. */
function findLine() {
  return new Promise((resolve) => {
    // The browser's own limit does not count while it asks the person, who may never answer.
    setTimeout(() => resolve({ why: 'position.late' }), longestWait);
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => resolve({ line: positionLine(coords) }),
      ({ code }) => resolve({ why: ['', 'position.denied', 'position.none', 'position.late'][code] || 'position.none' }),
      { enableHighAccuracy: true, timeout: longestWait });
  });
}
