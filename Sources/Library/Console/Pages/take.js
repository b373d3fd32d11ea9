// The page of one take: picture, playback, notes, clips, technical data, and deletion.
import { deletePath, deleteQuestion, offerUndo, takePath } from './take-actions.js';
import { PlayControls, RangeControls, stepSeconds } from './take-controls.js';
import { factsTable } from './take-facts.js';
import { TakeNotes } from './take-notes.js';
import { TakePlaces } from './take-places.js';
import { Player } from './player.js';
import { SpectrumPanel } from './take-spectrum.js';
import { TakeView } from './take-view.js';
import { standings, titleOf } from './take-row.js';
import { begun, dateText, lengthText, numberText } from './takes-format.js';
import { button, h } from './dom.js';

const keysOff = 'fieldfare.keys';

/**
 * Shows the page of one take.
 * @param {HTMLElement} root
 * @param {string} stem
 * @param {object} context The console's context.
 * @returns {() => void} Ends the page.
 */
export function takePage(root, stem, context) {
  const page = new TakePage(root, stem, context);
  page.load();
  return () => page.close();
}

class TakePage {
  #parts = [];
  #isClosed = false;
  #isUTC = false;
  #frameRequest = 0;

  constructor(root, stem, context) {
    Object.assign(this, { stem, context, t: context.t });
    this.heading = h('h1', {}, stem);
    this.root = h('div', { class: 'take' }, this.heading, h('p', { role: 'status' }, this.t('takes.loading')));
    root.append(this.root);
    window.scrollTo(0, 0);
    this.unsubscribe = [
      context.events.on('catalog', (event) => this.#changed(event)),
      context.events.on('connection', ({ isConnected }) => this.#connected(isConnected)),
      context.events.on('status', (status) => this.player?.heard(status)),
      context.events.on('level', (level) => this.player?.located(level.position_seconds ?? null)),
    ];
    this.onKey = (event) => this.#key(event);
    document.addEventListener('keydown', this.onKey);
  }

  close() {
    this.#isClosed = true;
    cancelAnimationFrame(this.#frameRequest);
    document.removeEventListener('keydown', this.onKey);
    for (const end of this.unsubscribe) end();
    this.#closeParts();
  }

  #closeParts() {
    this.isUnlocated = this.notes?.isLocating ?? false;
    this.#tellLeft(this.isUnlocated && 'position.left', this.notes?.close() && 'note.kept');
    for (const part of this.#parts) part.close();
  }

  /** Reports actions that were not completed before the take was left. */
  #tellLeft(...keys) {
    const sentences = keys.filter(Boolean).map((key) => this.t(key, { name: titleOf(this.take, this.t) }));
    if (sentences.length) this.context.fail(new Error(sentences.join(' ')));
  }

  /** Requests the take, and shows it. */
  async load() {
    try {
      const answer = await this.context.api.get(takePath(this.stem));
      if (!this.#isClosed) this.#show(answer);
    } catch (error) {
      if (this.#isClosed) return;
      this.#fill(() => [this.#backLink(), this.heading, h('p', { role: 'alert' }, error.message)]);
    }
  }

  get #mayChange() { return this.context.session()?.right === 'all'; }

  #show({ take, sidecar, notes, markers }) {
    const { t, context } = this;
    this.#closeParts();
    Object.assign(this, { take, sidecar, markers, shownFrames: take.frames });
    this.player = new Player(take, {
      api: context.api, onChange: () => this.#moved(), onFail: context.fail,
    });
    const status = context.status();
    if (status?.state === 'playing' && status.take === take.take) this.player.where = 'kit';
    this.view = new TakeView(take, sidecar, {
      t, onSeek: (frame) => this.#seek(frame), onSelect: () => this.range?.show(), onView: () => this.spectrum.show(),
    });
    this.spectrum = new SpectrumPanel(take, this.view.view, t);
    this.controls = new PlayControls({
      t, player: this.player, rate: take.rate_hz, length: take.duration_seconds, mayPlayThere: this.#mayChange,
      onToggle: () => this.#toggle(), onStep: (seconds) => this.#step(seconds),
    });
    this.range = new RangeControls({ t, take, view: this.view, player: this.player, fail: context.fail });
    this.notes = new TakeNotes(take, { t, mayChange: this.#mayChange, save: (changes) => this.#save(changes) });
    this.places = new TakePlaces(take.rate_hz, {
      t, mayChange: this.#mayChange, frame: () => this.player.frame, save: (changes) => this.#save({ markers: changes }),
      onSeek: (frame) => {
        this.#seek(frame);
        this.view.follow();
      },
    });
    this.#parts = [this.player, this.view, this.spectrum, this.places];
    this.isThere = notes.receipts.length > 0;
    this.#assemble(notes);
    this.#showPlaces();
    this.spectrum.start();
    this.view.setFrame(0);
    if (status) this.player.heard(status);
  }

  /** Whether the person plays, edits, or waits for a position. */
  get #isInUse() {
    const { activeElement } = document;
    return this.player.isPlaying || this.notes.isEdited || this.notes.isLocating
      || (this.root.contains(activeElement) && activeElement.matches('input, textarea'));
  }

  #assemble(notes) {
    const { t, take, sidecar } = this;
    this.line = h('p', { class: 'take-head' });
    this.damage = h('p', { class: 'take-damaged' });
    this.star = button('', () => this.#save({ starred: !this.take.starred }), { class: 'take-star', disabled: !this.#mayChange });
    this.#fill(() => [
      this.#backLink(), h('div', { class: 'take-heading' }, this.heading, this.star), this.line, this.damage,
      this.view.element, this.#legend(), this.controls.element, this.spectrum.element, this.range.element, this.controls.settings,
      this.places.element,
      this.notes.element,
      h('details', {}, h('summary', {}, h('h2', {}, t('take.facts'))), factsTable({ take, sidecar, notes }, t)),
      h('details', {}, h('summary', {}, h('h2', {}, t('take.keys'))), this.#keys()),
      this.#deleting(),
    ]);
    this.#showHead();
  }

  /** Fills the page. The heading keeps the focus that it got when the page was opened. */
  #fill(makeParts) {
    const hadFocus = this.root.contains(document.activeElement);
    this.root.replaceChildren(...makeParts().filter(Boolean));
    if (hadFocus) this.heading.focus({ preventScroll: true });
  }

  #backLink() { return h('a', { class: 'take-back', href: '#/takes' }, `‹ ${this.t('take.all')}`); }

  #showHead() {
    const { t, take } = this;
    this.heading.textContent = titleOf(take, t);
    this.star.textContent = take.starred ? '★' : '☆';
    this.star.setAttribute('aria-pressed', String(take.starred));
    this.star.setAttribute('aria-label', t('takes.star', { name: titleOf(take, t) }));
    this.#showDamage();
    const standing = standings[take.upload ?? 'none'];
    const time = button(dateText(begun(take), this.#isUTC), () => {
      this.#isUTC = !this.#isUTC;
      this.#showHead();
    }, { class: 'take-time', title: t('takes.time.hint') });
    this.line.replaceChildren(time, h('span', {}, lengthText(take.duration_seconds)),
      h('span', {}, `${numberText(take.rate_hz / 1000, 1)} kHz`),
      h('span', { class: `take-standing is-${take.upload ?? 'none'}` }, h('span', { 'aria-hidden': 'true' }, `${standing.sign} `), t(standing.key)),
      take.place === 'elsewhere' ? h('span', { class: 'take-away' }, t('takes.elsewhere')) : '');
  }

  /** Shows why the take counts as damaged; empty if it does not. */
  #showDamage() {
    const { t, take } = this;
    this.damage.hidden = !take.damaged;
    this.damage.replaceChildren(...(take.damaged ? [
      `${t('take.damaged', { why: take.damaged })} `,
      button(t('take.damaged.accept'), () => this.#acceptDamage(), { disabled: !this.#mayChange }),
    ] : []));
  }

  async #acceptDamage() {
    const { context, t } = this;
    if (!await context.ask(t('take.damaged.question'), { confirm: t('take.damaged.accept') })) return;
    try {
      this.#took((await context.api.post(`${takePath(this.stem)}/accept-damaged`, {})).take);
      context.succeed();
    } catch (error) {
      context.fail(error);
    }
  }

  #showPlaces() {
    this.view.setPlaces(this.markers);
    this.places.show(this.markers);
  }

  #legend() {
    const { sidecar, t } = this;
    const kinds = [
      ['marker', this.markers.length], ['gap', sidecar.gaps.length],
      ['loss', sidecar.suspected_losses?.length ?? 0], ['filter', sidecar.filter.length - 1],
    ].filter(([, count]) => count > 0);
    if (!kinds.length) return null;
    return h('ul', { class: 'legend', role: 'list', 'aria-label': t('take.legend') },
      ...kinds.map(([kind]) => h('li', { class: `is-${kind}` }, t(`take.legend.${kind}`))));
  }

  #keys() {
    const { t } = this;
    const rows = [['␣', 'space'], ['← →', 'arrows'], ['+ −', 'zoom'], ['0', 'whole'], ['[ ]', 'bounds'], ['m', 'mark']];
    // Keys without a modifier can disturb speech input, so they can be switched off.
    const isOn = h('input', { type: 'checkbox', onchange: () => localStorage.setItem(keysOff, isOn.checked ? '' : 'off') });
    isOn.checked = areKeysOn();
    return h('div', {}, h('label', { class: 'check' }, isOn, h('span', {}, t('keys.on'))),
      h('dl', { class: 'keys' }, ...rows.flatMap(([keys, name]) => [
        h('dt', {}, h('kbd', {}, keys)), h('dd', {}, t(`keys.${name}`, { n: stepSeconds })),
      ])));
  }

  #deleting() {
    const { t } = this;
    const choice = (where) => button(t(`take.delete.${where}`), () => this.#delete(where), { class: 'danger', disabled: !this.#mayChange });
    // True also if an attempt to delete the take was interrupted.
    const isThere = this.isThere || this.take.upload === 'done';
    return h('section', { class: 'take-delete', 'aria-labelledby': 'delete-title' },
      h('h2', { id: 'delete-title' }, t('take.delete')),
      choice('here'), isThere ? choice('there') : null, isThere ? choice('both') : null);
  }

  async #delete(where) {
    const { context, t, take } = this;
    if (!await context.ask(deleteQuestion([take], where, t), { confirm: t('takes.delete'), danger: true })) return;
    try {
      await context.api.delete(deletePath(take, where));
      if (where === 'there') this.#refresh();
      else {
        this.isDeleted = true;
        this.notes.giveUp();
        // The message is shown on the next page, because a page change closes earlier messages. A restored take is shown.
        addEventListener('hashchange', () => offerUndo(context, [take.take], () => { location.hash = `#/takes/${take.take}`; }), { once: true });
        location.hash = '#/takes';
      }
    } catch (error) {
      context.fail(error);
    }
  }

  /** Saves changes. Returns a promise of the failure, which may be a lost answer, or of null after success. */
  async #save(changes) {
    try {
      const { take } = await this.context.api.patch(takePath(this.stem), changes);
      if (changes.markers) await this.#refresh();
      else this.#took(take);
      this.context.succeed();
      // A memo saved after its take was left still has no location.
      if (this.#isClosed) this.#tellLeft(this.isUnlocated && 'position.left');
      return null;
    } catch (error) {
      // A memo that was being saved is deleted with its take. The offer to undo that stays.
      if (this.isDeleted) return error;
      this.context.fail(error);
      if (error.status === 409) await this.#refresh();
      return error;
    }
  }

  #took(take) {
    this.take = take;
    this.notes.show(take);
    this.#showHead();
    this.#showPlaces();
  }

  async #changed({ what, take }) {
    if ((take !== this.stem && what !== 'many') || !this.take) return;
    if (what === 'removed') {
      this.context.fail(new Error(this.t('take.gone')));
      this.player.pause();
    } else {
      await this.#refresh();
    }
  }

  #connected(isConnected) {
    if (isConnected && this.wasAway && this.take) {
      this.#refresh().then(() => this.notes.saveAgain());
    }
    this.wasAway = !isConnected;
  }

  async #refresh() {
    try {
      const { take, markers } = await this.context.api.get(takePath(this.stem));
      if (this.#isClosed) return;
      this.markers = markers;
      // A continued take is longer, and the whole page shows the shorter one. A memo that is being edited stays.
      if (take.frames !== this.shownFrames && !this.#isInUse) await this.load();
      else this.#took(take);
    } catch (error) {
      this.context.say(error.message);
    }
  }

  #toggle() {
    if (this.player.isPlaying) this.player.pause();
    else this.player.play();
  }

  #step(seconds) {
    this.#seek(this.player.frame + seconds * this.take.rate_hz);
    this.view.follow();
  }

  #seek(frame) {
    this.player.seek(frame);
    this.#moved();
  }

  /** During playback, the playhead moves with each animation frame. */
  #moved() {
    cancelAnimationFrame(this.#frameRequest);
    this.#frameRequest = requestAnimationFrame(() => {
      if (this.#isClosed) return;
      this.controls.show();
      this.view.setFrame(this.player.frame);
      if (!this.player.isPlaying) return;
      this.view.follow();
      this.#moved();
    });
  }

  #key(event) {
    if (!this.view || !areKeysOn() || hasCommandKey(event) || isTyping(event)) return;
    const actions = {
      ' ': () => this.#toggle(), ArrowLeft: () => this.#step(-stepSeconds), ArrowRight: () => this.#step(stepSeconds),
      Home: () => this.#seek(0), End: () => this.#seek(this.take.frames),
      '+': () => this.view.zoom(0.5), '=': () => this.view.zoom(0.5), '-': () => this.view.zoom(2), '−': () => this.view.zoom(2),
      0: () => this.view.show(), '[': () => this.range.bound('from'), ']': () => this.range.bound('to'),
      m: () => this.places.add(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

function areKeysOn() { return localStorage.getItem(keysOff) !== 'off'; }

/** Whether a key belongs to the browser or the system. Many keyboards have the brackets on AltGr. */
function hasCommandKey(event) {
  return event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState('AltGraph'));
}

/** Whether a key is for the element with the focus. */
function isTyping({ target, key }) {
  if (target.closest('textarea, select, input, dialog')) return true;
  return key === ' ' && target.closest('button, summary, a') !== null;
}
