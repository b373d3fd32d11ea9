// The phone's position, as a line of a memo: a geo URI (RFC 5870).
import { button, h } from './dom.js';

const longestWait = 60_000;
/** A line that the button wrote. */
const written = /^geo:-?\d+\.\d{5},-?\d+\.\d{5}(,-?\d+)?;u=\d+$/m;

/** The line for a browser's `GeolocationCoordinates`. Its uncertainty applies to the altitude as well. */
export function positionLine({ latitude, longitude, accuracy, altitude, altitudeAccuracy }) {
  const place = [rounded(latitude, 5), rounded(longitude, 5)];
  if (altitude == null) return `geo:${place};u=${Math.ceil(accuracy)}`;
  return `geo:${place},${rounded(altitude, 0)};u=${Math.ceil(Math.max(accuracy, altitudeAccuracy ?? 0))}`;
}

/** A number without an exponent, and a zero without a sign. */
function rounded(value, digits) { return (Number(value.toFixed(digits)) + 0).toFixed(digits); }

/**
 * The place of a position line in a memo, existing or new: `{ text, from, to }`, the arguments of `setRangeText`.
 * A new line goes to the end, because the first line is the title.
 */
export function positionEdit(memo, line) {
  const old = written.exec(memo);
  return old ? { text: line, from: old.index, to: old.index + old[0].length } : { text: `\n${line}`, from: memo.length, to: memo.length };
}

/** The button that requests the phone's position, and the result. */
export class PositionButton {
  /** `ready`, `waiting` for the browser, or `closed`. */
  #state = 'ready';

  /** Browsers provide a position only on pages loaded by HTTPS or from the same machine. */
  static get isOffered() { return isSecureContext && 'geolocation' in navigator; }

  /** @param {object} options `t`, `settled()` (a promise to wait for before a change), `add(line)` (returns `{ text, isFailure }`). */
  constructor({ t, settled, add }) {
    Object.assign(this, { t, settled, add });
    this.button = button(t('position.add'), () => this.#find(), { 'aria-describedby': 'position-hint' });
    this.hint = h('p', { id: 'position-hint', class: 'hint' }, t('position.hint'));
    this.outcome = h('p', { role: 'status', class: 'position-outcome' });
  }

  get isWaiting() { return this.#state === 'waiting'; }

  /** Ends the request: a later position is dropped. */
  close() { this.#state = 'closed'; }

  /** Removes the result, because another memo is shown. */
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
    // A disabled button would lose the focus.
    this.button.setAttribute('aria-disabled', String(this.isWaiting));
    this.outcome.textContent = outcome;
    this.outcome.classList.toggle('is-warning', isFailure);
  }
}

/** Asks the browser for the position. Returns the line, or the key of the text that explains the failure. */
function findLine() {
  return new Promise((resolve) => {
    // The browser's own timeout does not run while it asks the person, who may never answer.
    setTimeout(() => resolve({ why: 'position.late' }), longestWait);
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => resolve({ line: positionLine(coords) }),
      ({ code }) => resolve({ why: ['', 'position.denied', 'position.none', 'position.late'][code] || 'position.none' }),
      { enableHighAccuracy: true, timeout: longestWait });
  });
}
