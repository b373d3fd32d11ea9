// What is known of a take besides its sound: memo, tags, markers and regions, position, and technical data.
import { button, field, h, setText } from './dom.js';
import { begun, dateText, lengthText, numberText, sizeText } from './format.js';
import { bandText, placeOf } from './marks.js';

// The phone's position, as a line of a memo: a geo URI (RFC 5870).

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
 * A new line goes to the end, because the first line is shown as the title of a take without one.
 */
export function positionEdit(memo, line) {
  const old = written.exec(memo);
  return old ? { text: line, from: old.index, to: old.index + old[0].length } : { text: `\n${line}`, from: memo.length, to: memo.length };
}

/** The button that requests the phone's position, and the result. */
class PositionButton {
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

// A person's notes about a take: memo and tags.

/** The most bytes that the kit accepts. */
const longestMemo = 4000;

/** Memos that could not be saved before their page was left, by stem. They appear again when the take is opened. */
const drafts = new Map();
let shown = null;
/** By stem and frame, the notes of markers that are being written or saved, or could not be saved. They too appear again. */
const unsavedNotes = new Map();
// Closing the page would lose unsaved text, so the browser asks first.
window.addEventListener('beforeunload', (event) => {
  if (drafts.size || shown?.isEdited || [...unsavedNotes.values()].some(({ size }) => size)) event.preventDefault();
});

export class TakeNotes {
  /**
   * @param {object} take
   * @param {object} options `t`, `mayChange`, `save(changes)` (a promise of the failure, or null).
   */
  constructor(take, { t, mayChange, save }) {
    Object.assign(this, { take, t, mayChange, save });
    // The memo before the edit began here, and the pending save.
    this.base = take.memo ?? null;
    this.saving = Promise.resolve();
    this.memo = h('textarea', { rows: 4, readonly: !mayChange, oninput: () => this.#showState(), onchange: () => this.#saveMemo() });
    this.memo.addEventListener('compositionstart', () => { this.isComposing = true; });
    this.memo.addEventListener('compositionend', () => { this.isComposing = false; });
    this.state = h('p', { role: 'status', class: 'is-warning' });
    this.theirs = h('p', {});
    this.question = h('div', { role: 'alert', hidden: true }, this.theirs,
      h('div', { class: 'row' }, button(t('note.mine'), () => this.#keepMine()), button(t('note.theirs'), () => this.#takeTheirs())));
    this.tags = h('ul', { class: 'note-tags', role: 'list' });
    this.position = mayChange && PositionButton.isOffered ? new PositionButton({
      t, settled: () => this.#settled(), add: (line) => this.#addPosition(line),
    }) : null;
    const input = h('input', { type: 'text', maxlength: 100 });
    const add = h('div', { class: 'note-add' }, field(t('note.tag'), input), button(t('note.add'), () => this.#addTag(input)));
    input.addEventListener('keydown', (event) => { if (event.key === 'Enter') this.#addTag(input); });
    this.element = h('section', { class: 'take-notes', 'aria-labelledby': 'notes-title' },
      h('h2', { id: 'notes-title' }, t('note.title')),
      field(t('note.memo'), this.memo), this.state, this.question,
      button(t('note.save'), () => this.#saveMemo(), { disabled: !mayChange }),
      this.position?.button, this.position?.hint, this.position?.outcome,
      this.tags, mayChange ? add : null);
    this.show(take);
    const draft = drafts.get(take.take);
    if (draft) {
      drafts.delete(take.take);
      this.memo.value = draft.memo;
      this.base = draft.base;
      this.#showState();
    }
    shown = this;
  }

  /** Closes the editor. An unsaved memo is kept until the take is opened again. Returns whether there is one that is not being saved. */
  close() {
    shown = null;
    this.position?.close();
    if (this.isEdited) drafts.set(this.take.take, { memo: this.memo.value, base: this.base });
    return this.isEdited && !this.isSaving;
  }

  /** Discards unsaved changes of a deleted take. */
  giveUp() {
    this.memo.value = this.take.memo ?? '';
    this.position?.close();
  }

  /** Whether a request for the phone's position is pending. */
  get isLocating() { return this.position?.isWaiting ?? false; }

  get isEdited() { return storedMemo(this.memo.value) !== storedMemo(this.take.memo ?? ''); }

  /** Shows the current take. A memo that is being edited stays. */
  show(take) {
    if (!this.isEdited || this.take === take) this.memo.value = take.memo ?? '';
    this.take = take;
    // This also covers a save whose answer was lost.
    if (!this.isEdited) this.base = take.memo ?? null;
    this.#showState();
    this.theirs.textContent = this.t('note.conflict', { memo: take.memo ?? '–' });
    this.tags.replaceChildren(...take.tags.map((tag) => h('li', {}, tag, button('×', () => this.#removeTag(tag), {
      'aria-label': this.t('note.remove', { tag }), disabled: !this.mayChange,
    }))));
  }

  /** Saves a memo that could not be saved before. */
  saveAgain() { if (document.activeElement !== this.memo) this.#saveMemo(); }

  #showState() {
    const text = this.isEdited ? this.t('note.unsaved') : '';
    // Only a changed text is announced.
    setText(this.state, text);
  }

  /** Waits while a keyboard composes a word, as phones do for each word. If the memo changed meanwhile, the word would appear twice. */
  async #settled() {
    while (this.isComposing) {
      await new Promise((resolve) => { this.memo.addEventListener('compositionend', () => setTimeout(resolve), { once: true }); });
    }
  }

  /** Puts the line of a position into the memo and saves it, but not while somebody types. Returns the result: `{ text, isFailure }`. */
  #addPosition(line) {
    const { text, from, to } = positionEdit(this.memo.value, line);
    const old = this.memo.value.slice(from, to);
    const bytes = byteCount(this.memo.value) - byteCount(old) + byteCount(text);
    if (bytes > longestMemo) return { text: this.t('position.room', { n: bytes, most: longestMemo }), isFailure: true };
    this.memo.setRangeText(text, from, to, 'preserve');
    this.#showState();
    if (document.activeElement === this.memo) this.memo.addEventListener('blur', () => this.#saveMemo(), { once: true });
    else this.#saveMemo();
    return { text: this.t(old ? 'position.replaced' : 'position.added', { line, old }), isFailure: false };
  }

  /** One save after the other, because each is based on the previous one. */
  #saveMemo() {
    this.saving = this.saving.then(() => this.#saveOnce());
    return this.saving;
  }

  async #saveOnce() {
    if (!this.isEdited || !this.question.hidden) return;
    const memo = storedMemo(this.memo.value) || null;
    this.isSaving = true;
    const failure = await this.save({ memo, memo_was: this.base });
    this.isSaving = false;
    if (!failure) {
      this.base = memo;
      drafts.delete(this.take.take);
    }
    // Another phone changed the memo meanwhile. A person decides which one stays.
    this.question.hidden = failure?.status !== 409 || (this.take.memo ?? null) === this.base;
    this.#showState();
  }

  #keepMine() {
    this.base = this.take.memo ?? null;
    this.question.hidden = true;
    this.memo.focus();
    this.#saveMemo();
  }

  #takeTheirs() {
    this.base = this.take.memo ?? null;
    this.memo.value = this.take.memo ?? '';
    this.position?.forget();
    this.question.hidden = true;
    this.memo.focus();
    this.#showState();
  }

  async #addTag(input) {
    const tag = input.value.trim();
    if (!tag) return;
    if (!await this.save({ add: [tag] })) input.value = '';
  }

  async #removeTag(tag) {
    await this.save({ remove: [tag] });
    this.memo.closest('section').querySelector('.note-add input')?.focus();
  }
}

/** A memo in the form in which the kit stores it, for comparison: with a space in place of a control character. */
export function storedMemo(text) { return text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, ' ').trimEnd(); }

function byteCount(text) { return new TextEncoder().encode(text).length; }

// The markers and regions of a take: a list to go to them, and to describe, set and remove them.

// A take with more markers shows the first ones.
const mostShown = 1000;

/** The data of a program in a marker, and its band, such as `Turdus merula, 0.83, birdnet, 1.5–8 kHz`. */
function foundText({ label, score, by, low_hz: low, high_hz: high }) {
  const band = low === undefined && high === undefined ? undefined : bandText(low, high);
  return [label, score, by, band].filter((text) => text !== undefined).join(', ');
}

export class TakePlaces {
  #markers = [];
  /** The frame of a marker that is being set. Its note gets the focus once the kit has it. */
  #wanted = null;
  /** By frame, the notes that are being written or saved, or could not be saved. */
  #unsaved;
  #saving = Promise.resolve();
  #pending = 0;
  #isPressed = false;
  #isLate = false;

  /**
   * @param {{take: string, rate_hz: number}} take
   * @param {object} options `t`, `mayChange`, `frame()` of the playhead, `onSeek(marker)`, `save(changes)` (a promise of the failure, or null).
   */
  constructor({ take, rate_hz: rate }, options) {
    Object.assign(this, { rate, options });
    if (!unsavedNotes.has(take)) unsavedNotes.set(take, new Map());
    this.#unsaved = unsavedNotes.get(take);
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
    this.#isLate = this.#isPressed || isEdited;
    if (this.#isLate) return;
    // An answer that was on its way lacks the marker that is being set.
    const isSet = markers.some(({ at_frame: frame }) => frame === this.#wanted);
    const key = isSet ? `note ${this.#wanted}` : focused?.dataset.key;
    const place = focused ? [...this.list.querySelectorAll('[data-key]')].indexOf(focused) : -1;
    if (isSet) this.#wanted = null;
    this.#fill();
    if (key === undefined) return;
    // The focus stays on its element, or moves to the neighbour after a removal.
    const elements = [...this.list.querySelectorAll('[data-key]')];
    (elements.find((element) => element.dataset.key === key) ?? elements[Math.min(place, elements.length - 1)] ?? this.adding)?.focus();
  }

  /** Stops listening for pointer events. Unsaved notes are kept until the take is opened again. Returns whether some are not being saved. */
  close() {
    removeEventListener('pointerup', this.release);
    removeEventListener('pointercancel', this.release);
    return this.isUnsaved && !this.#pending;
  }

  /** Discards the notes of a deleted take. */
  giveUp() { this.#unsaved.clear(); }

  /** Sets a marker, by default at the playhead, and lets the person describe it. A marker that is there becomes a region. */
  async add(place = { at_frame: Math.round(this.options.frame()) }) {
    if (!this.options.mayChange) return;
    // On some phones, a tap on a button leaves the focus in a note. This saves the note.
    const { activeElement } = document;
    if (this.list.contains(activeElement) && activeElement.matches('input')) activeElement.blur();
    const frame = place.at_frame;
    this.#wanted = frame;
    if (this.#at(frame) && place.end_frame === undefined) this.show(this.#markers);
    else await this.#save(() => ({ set: [{ ...place, note: this.#at(frame)?.note ?? null }] }));
    if (this.#wanted === frame) this.#wanted = null;
  }

  /** Whether a note is being written or saved, or could not be saved. */
  get isUnsaved() { return this.#unsaved.size > 0; }

  /** Saves the notes that could not be saved before, but none that is being written. A marker that was removed meanwhile stays removed. */
  saveAgain() {
    for (const [frame, text] of this.#unsaved) {
      if (!this.#at(frame)) this.#unsaved.delete(frame);
      else if (document.activeElement?.dataset.key !== `note ${frame}`) this.#describe(frame, text);
    }
  }

  #at(frame) { return this.#markers.find((marker) => marker.at_frame === frame); }

  /** Saves a note. The list shows the text until the kit has it. What the marker marks may have changed while it was written. */
  async #describe(frame, text) {
    this.#unsaved.set(frame, text);
    const failure = await this.#save(() => ({ set: [{ ...placeOf(this.#at(frame) ?? { at_frame: frame }), note: text.trim() || null }] }));
    if (!failure && this.#unsaved.get(frame) === text) this.#unsaved.delete(frame);
  }

  /** One change after the other: each is made from the markers that the one before has left. */
  #save(makeChanges) {
    this.#pending += 1;
    this.#saving = this.#saving.then(() => this.options.save(makeChanges())).finally(() => { this.#pending -= 1; });
    return this.#saving;
  }

  #fill() {
    const { t } = this.options;
    const items = this.#markers.slice(0, mostShown).map((marker) => this.#item(marker));
    if (this.#markers.length > mostShown) items.push(h('li', {}, t('take.more', { n: this.#markers.length - mostShown })));
    this.list.replaceChildren(
      items.length ? h('ol', { class: 'places', role: 'list' }, ...items) : h('p', { class: 'hint' }, t('take.noplaces')));
  }

  #item(marker) {
    const { at_frame: frame, note, end_frame: end } = marker;
    const { t, mayChange, onSeek } = this.options;
    const time = lengthText(frame / this.rate, 3);
    const go = button(time, () => onSeek(marker), { class: 'place', 'data-key': `go ${frame}` });
    if (end !== undefined) go.append(h('small', {}, ` – ${lengthText(end / this.rate, 3)}`));
    const words = foundText(marker);
    const what = words ? h('span', { class: 'place-words' }, words) : null;
    if (!mayChange) return h('li', {}, go, h('span', { class: 'place-note' }, note ?? ''), what);
    const input = h('input', {
      type: 'text', class: 'place-note', value: note ?? '', maxlength: 250, autocomplete: 'off', 'data-frame': frame, 'data-key': `note ${frame}`, 'aria-label': t('place.note', { time }),
      oninput: () => {
        if (input.value === (note ?? '')) this.#unsaved.delete(frame);
        else this.#unsaved.set(frame, input.value);
      },
      onchange: () => this.#describe(frame, input.value),
    });
    if (this.#unsaved.has(frame)) input.value = this.#unsaved.get(frame);
    input.addEventListener('keydown', (event) => { if (event.key === 'Enter') input.blur(); });
    const remove = button('×', () => {
      this.#unsaved.delete(frame);
      this.#save(() => ({ remove: [frame] }));
    }, {
      class: 'place-remove', 'aria-label': t('place.remove', { time }), 'data-key': `remove ${frame}`,
    });
    return h('li', {}, go, input, what, remove);
  }
}

// The technical data of a take: the values of its sidecar as a table.

const mostListed = 50;

export function factsTable({ take, sidecar, notes }, t) {
  const rows = [...origin(take, sidecar, t), ...sound(sidecar, t), ...places(sidecar, t), ...files(take, sidecar, notes, t)];
  return h('table', { class: 'take-data' }, h('tbody', {}, ...rows.filter(([, text]) => text).map(([name, text]) =>
    h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, text)))));
}

function origin(take, sidecar, t) {
  return [
    [t('deck.take'), `${take.take}, ${t('fact.revision', { n: sidecar.revision })}`],
    [t('nav.kit'), take.kit],
    [t('fact.started'), `${dateText(begun(take), true)} (${t(`fact.clock.${take.clock}`)})`],
    [t('fact.first'), take.started_corrected && t('fact.corrected', { time: dateText(new Date(take.started), true) })],
    [t('fact.length'), t('fact.frames', { time: lengthText(take.duration_seconds, 3), frames: numberText(take.frames) })],
    [t('fact.preroll'), sidecar.pre_roll_frames > 0 && lengthText(sidecar.pre_roll_frames / sidecar.rate_hz, 3)],
    [t('fact.ended'), [t(`fact.ended.${take.ended_by ?? 'unknown'}`), take.recovered && t('fact.recovered'),
      sidecar.started_by && t(`fact.begun.${sidecar.started_by}`)].filter(Boolean).join(', ')],
  ];
}

function sound(sidecar, t) {
  const filters = sidecar.filter.slice(0, mostListed).map((change) => [t('deck.filter'), filterText(change, sidecar, t)]);
  const levels = sidecar.levels.map((level, index) => [t('fact.level', { n: index + 1 }), levelText(level, t)]);
  const channels = sidecar.channels_of_card ? t('fact.channels.some', { list: sidecar.channels_of_card.join(', ') })
    : t('fact.channels', { n: sidecar.channels });
  return [
    [t('fact.card'), cards(sidecar).join(', ')],
    [t('fact.format'), `${numberText(sidecar.rate_hz)} Hz, ${channels}, ${sidecar.format}`],
    [t('fact.gain'), typeof sidecar.gain_db === 'number' && `${numberText(sidecar.gain_db, 1)} dB`],
    [t('fact.agc'), typeof sidecar.agc === 'boolean' && t(sidecar.agc ? 'fact.on' : 'off')],
    [t('fact.drift'), typeof sidecar.clock_drift_ppm === 'number' && `${numberText(sidecar.clock_drift_ppm, 1)} ppm`],
    ...filters, ...levels,
  ];
}

/** The cards of a take, each with its port if the parts have several. */
function cards(sidecar) {
  const all = sidecar.parts.filter((part) => part.card).map((part) => part.card + (part.port ? ` (USB ${part.port})` : ''));
  const each = [...new Set(all)];
  return each.length > 1 ? each : [sidecar.card];
}

function places(sidecar, t) {
  const at = (frame) => lengthText(frame / sidecar.rate_hz, 3);
  const gaps = sidecar.gaps.slice(0, mostListed).map((gap) => [t('fact.gap'), t('fact.gap.text', {
    time: at(gap.at_frame), frames: numberText(gap.frames), count: gap.count ?? 1, cause: t(`fact.cause.${gap.cause}`),
  })]);
  const losses = (sidecar.suspected_losses ?? []).slice(0, mostListed).map((loss) => [t('fact.loss'), t('fact.loss.text', {
    from: at(loss.after_frame), to: at(loss.before_frame), frames: numberText(loss.frames),
  })]);
  return [...gaps, ...losses];
}

function files(take, sidecar, notes, t) {
  const path = `/api/takes/${encodeURIComponent(take.take)}/files/`;
  const link = (name) => h('a', { href: path + encodeURIComponent(name), download: name }, name);
  const parts = sidecar.parts.flatMap((part) => [
    [t('fact.file'), h('span', {}, link(part.file), part.first_frame > 0 ? `, ${t('fact.from', { time: lengthText(part.first_frame / sidecar.rate_hz, 3) })}` : '')],
    [t('fact.raw'), part.unfiltered_file && link(part.unfiltered_file)],
  ]);
  const receipts = (notes.receipts ?? []).filter((receipt) => receipt.completed).map((receipt) =>
    [t('fact.store'), t('fact.stored', { store: receipt.stick ? `${receipt.store} ${receipt.stick.slice(0, 8)}` : receipt.store, time: dateText(new Date(receipt.completed), false) })]);
  return [
    ...parts, [t('fact.size'), sizeText(take.bytes)], [t('fact.folder'), take.folder], ...receipts,
    [t('fact.pending'), take.pending_format && t('fact.pending.text', { format: take.pending_format })],
    [t('fact.version'), sidecar.version],
  ];
}

function filterText({ at_frame: frame, low_pass_hz: low, high_pass_hz: high, slope_db_per_octave: slope }, sidecar, t) {
  const parts = [
    low !== null && t('fact.lowpass', { hz: numberText(low), slope }), high !== null && t('fact.highpass', { hz: numberText(high), slope }),
  ].filter(Boolean).join(', ') || t('off');
  return frame > 0 ? `${t('fact.from', { time: lengthText(frame / sidecar.rate_hz, 3) })}: ${parts}` : parts;
}

function levelText(level, t) {
  const decibels = (value) => (value === null ? '−∞' : numberText(value, 1));
  const clipped = level.clipped_frames + level.filter_clipped_frames;
  const text = t('fact.level.text', { peak: decibels(level.peak_dbfs), rms: decibels(level.rms_dbfs) });
  return clipped ? `${text}, ${t('fact.clipped', { n: numberText(clipped) })}` : text;
}
