// The page of one take: picture, playback, notes, clips, technical data, and deletion.
import { AnswerOrder } from './api.js';
import { areKeysOn, button, h, hasCommandKey, icon, isTyping, keysSwitch, keysTable } from './dom.js';
import { begun, dateText, lengthText, nameText, numberText } from './format.js';
import { regionOf, selectionOf } from './marks.js';
import { queueFrom, soundOf } from './sound.js';
import { SpectrumLane } from './spectrum.js';
import {
  deletePath, deleteQuestion, offerUndo, openDownloads, PictureSettings, PlayControls, RangeControls, stepSeconds, takePath,
} from './take-actions.js';
import { factsTable, TakeNotes, TakePlaces } from './take-notes.js';
import { editTitle } from './takes-parts.js';
import { Timeline } from './timeline.js';
import { TimeLane, WaveLane } from './waveform.js';

/** A place of the address is shown with so many seconds before and after it. */
const around = [5, 10];

/**
 * Shows the page of one take.
 * @param {HTMLElement} root
 * @param {string} stem
 * @param {'at' | 'see' | undefined} how With `at` the take is played from a second, with `see` that second is shown.
 * @param {string | undefined} second
 * @param {object} context The console's context.
 * @returns {() => void} Ends the page.
 */
export function takePage(root, stem, how, second, context) {
  const page = new TakePage(root, stem, how && { how, second: Number(second) }, context);
  page.load();
  return () => page.close();
}

class TakePage {
  #isClosed = false;
  #isUTC = false;
  #frameRequest = 0;
  #order = new AnswerOrder();

  constructor(root, stem, first, context) {
    Object.assign(this, { stem, first, context, t: context.t, sound: soundOf(context) });
    this.heading = h('h1', { onclick: () => this.#editTitle() }, stem);
    this.root = h('div', { class: 'take' }, this.heading, h('p', { role: 'status' }, this.t('takes.loading')));
    root.append(this.root);
    window.scrollTo(0, 0);
    this.unsubscribe = [
      context.events.on('catalog', (event) => this.#changed(event)),
      context.events.on('connection', ({ isConnected }) => this.#connected(isConnected)),
      this.sound.on((player) => { if (player && player === this.player) this.#moved(); }),
    ];
    this.onKey = (event) => this.#key(event);
    document.addEventListener('keydown', this.onKey);
  }

  close() {
    this.#isClosed = true;
    cancelAnimationFrame(this.#frameRequest);
    document.removeEventListener('keydown', this.onKey);
    for (const end of this.unsubscribe) end();
    this.finishTitle?.();
    this.#closeParts();
    this.sound.cover(null);
  }

  #closeParts() {
    this.isUnlocated = this.notes?.isLocating ?? false;
    this.#tellLeft(this.isUnlocated && 'position.left', this.notes?.close() && 'note.kept', this.places?.close() && 'place.kept');
    this.timeline?.close();
    if (this.player) this.sound.leave(this.player);
  }

  /** Reports actions that were not completed before the take was left. */
  #tellLeft(...keys) {
    const sentences = keys.filter(Boolean).map((key) => this.t(key, { name: nameText(this.take, this.t) }));
    if (sentences.length) this.context.fail(new Error(sentences.join(' ')));
  }

  /** Requests the take, and shows it. */
  async load() {
    try {
      const answer = await this.context.api.get(takePath(this.stem));
      if (!this.#isClosed) this.#show(answer);
    } catch (error) {
      if (this.#isClosed) return;
      this.#fill(() => [this.#backLink(), this.heading, h('p', { role: 'alert' }, error.message), button(this.t('page.again'), () => this.load())]);
    }
  }

  get #mayChange() { return this.context.session()?.right === 'all'; }

  #show({ take, sidecar, notes, markers }) {
    const { t, context } = this;
    this.#closeParts();
    Object.assign(this, { take, sidecar, markers, shownFrames: take.frames });
    this.queue ??= this.sound.list?.has(take.take) ? this.sound.list : queueFrom(take, context.api.get);
    this.player = this.sound.playerOf(take, this.queue);
    this.sound.cover(take.take);
    const status = context.status();
    if (!this.player.isPlaying && status?.state === 'playing' && status.take === take.take) this.player.where = 'kit';
    this.#showPicture();
    this.controls = new PlayControls({
      t, player: this.player, rate: take.rate_hz, length: take.duration_seconds, mayPlayThere: this.#mayChange,
      onToggle: () => this.#toggle(), onStep: (seconds) => this.#step(seconds),
    });
    this.range = new RangeControls({
      t, take, timeline: this.timeline, player: this.player, say: context.say, fail: context.fail,
      label: this.#mayChange ? (selection) => this.places.add(selection ? regionOf(selection) : undefined) : null,
    });
    this.notes = new TakeNotes(take, { t, mayChange: this.#mayChange, save: (changes) => this.#save(changes) });
    this.places = new TakePlaces(take, {
      t, mayChange: this.#mayChange, frame: () => this.player.frame, save: (changes) => this.#save({ markers: changes }),
      onSeek: (marker) => this.#goTo(marker),
    });
    this.isThere = notes.receipts.length > 0;
    this.#assemble(notes);
    this.#showPlaces();
    this.places.saveAgain();
    this.timeline.setFrame(this.player.frame);
    if (status) this.sound.heard(status);
    this.#showFirst();
  }

  /** Shows the place of the address, once, or what is heard now. */
  #showFirst() {
    const { first, player, take: { rate_hz: rate }, timeline } = this;
    this.first = null;
    if (first) {
      const frame = first.second * rate;
      if (!player.isPlaying || first.how === 'at') this.#seek(frame);
      timeline.show(frame - around[0] * rate, frame + around[1] * rate);
      // The browser refuses sound unless a person has just tapped a link.
      if (first.how === 'at' && !player.isPlaying && navigator.userActivation?.isActive) player.play();
    } else if (player.isPlaying) {
      this.#moved();
    }
  }

  #showPicture() {
    const { take, sidecar, t } = this;
    const onLoad = () => this.timeline?.draw();
    this.wave = new WaveLane(take, sidecar, { t, onLoad });
    this.spectrum = new SpectrumLane(take, { t, onLoad });
    this.timeline = new Timeline(take, [this.wave, this.spectrum, new TimeLane(take.rate_hz)], {
      t, overview: this.wave, onSeek: (frame) => this.#seek(frame), onSelect: () => this.range.show(), onBoxing: () => this.range.show(),
    });
    this.picture = new PictureSettings(take, {
      t, spectrum: this.spectrum,
      onGain: (gain) => {
        this.wave.gain = gain;
        this.timeline.draw();
      },
    });
  }

  /** Whether the person plays, edits, or waits for a position. */
  get #isInUse() {
    const { activeElement } = document;
    return this.player.isPlaying || this.notes.isEdited || this.notes.isLocating || this.places.isUnsaved
      || (this.root.contains(activeElement) && activeElement.matches('input, textarea'));
  }

  #assemble(notes) {
    const { t, take, sidecar } = this;
    this.legend = h('ul', { class: 'legend', role: 'list', 'aria-label': t('take.legend') });
    this.line = h('p', { class: 'take-head' });
    this.damage = h('p', { class: 'take-damaged' });
    this.star = button('', () => this.#save({ starred: !this.take.starred }), { class: 'take-star', disabled: !this.#mayChange });
    this.#fill(() => [
      h('div', { class: 'take-top' }, this.#backLink(),
        this.#goButton(-1, 'previous', t('deck.previous')), this.#goButton(1, 'next', t('deck.following')), this.#downloadButton()),
      this.#makeName(), this.line, this.damage,
      this.timeline.element,
      h('div', { class: 'take-tools' }, this.controls.element, this.range.actions, this.range.zoom), this.legend,
      this.places.element, this.range.element, this.picture.element, this.controls.settings,
      this.notes.element,
      h('details', {}, h('summary', {}, h('h2', {}, t('take.facts'))), factsTable({ take, sidecar, notes }, t)),
      h('details', {}, h('summary', {}, h('h2', {}, t('take.keys'))), this.#keys()),
      this.#deleting(),
    ]);
    this.#showHead();
  }

  /** Moves the heading, so call it from `#fill`. */
  #makeName() {
    const { t } = this;
    this.name = h('div', { class: 'take-name' }, this.heading, this.#mayChange
      ? button('✎\uFE0E', () => this.#editTitle(), { class: 'take-edit', 'aria-label': t('title.edit'), title: t('title.edit') }) : null, this.star);
    return this.name;
  }

  /** Fills the page. The heading keeps the focus that it got when the page was opened. */
  #fill(makeParts) {
    const hadFocus = this.root.contains(document.activeElement);
    this.root.replaceChildren(...makeParts().filter(Boolean));
    if (hadFocus) this.heading.focus({ preventScroll: true });
  }

  #goButton(step, iconName, name) {
    return h('button', { type: 'button', class: 'take-go', 'aria-label': name, title: name, onclick: () => this.#go(step) }, icon(iconName));
  }

  #downloadButton() {
    const { t } = this;
    return h('button', { type: 'button', class: 'primary take-download', 'aria-label': t('takes.download'), onclick: () => openDownloads(this.take, {
      t, context: this.context, selection: this.timeline.selection,
    }) }, icon('download'), h('span', {}, t('takes.download')));
  }

  /** Shows the next take of the list, or for -1 the one before. */
  async #go(step) {
    const { context, t } = this;
    try {
      const stem = await this.queue.step(this.stem, step);
      if (this.#isClosed) return;
      if (stem === null) context.say(t(step > 0 ? 'deck.last' : 'deck.first'));
      else {
        this.sound.list = this.queue;
        location.hash = `#/takes/${encodeURIComponent(stem)}`;
      }
    } catch (error) {
      context.fail(error);
    }
  }

  #editTitle() {
    if (!this.#mayChange || !this.name || this.name.hidden) return;
    this.finishTitle = editTitle(this.name, { t: this.t, take: this.take, save: (title) => this.#save({ title }), onEnd: () => this.name.querySelector('.take-edit').focus() });
  }

  #backLink() { return h('a', { class: 'back', href: '#/takes' }, `‹ ${this.t('nav.takes')}`); }

  #showHead() {
    const { t, take } = this;
    this.heading.textContent = nameText(take, t);
    if (!this.#isClosed) this.context.showTitle(nameText(take, t));
    this.star.textContent = take.starred ? '★' : '☆';
    this.star.setAttribute('aria-pressed', String(take.starred));
    this.star.setAttribute('aria-label', t('takes.star', { name: nameText(take, t) }));
    this.#showDamage();
    const standing = take.upload ?? 'none';
    const time = button(dateText(begun(take), this.#isUTC), () => {
      this.#isUTC = !this.#isUTC;
      this.#showHead();
    }, { class: 'take-time', title: t('takes.time.hint') });
    this.line.replaceChildren(time, h('span', {}, lengthText(take.duration_seconds)),
      h('span', {}, `${numberText(take.rate_hz / 1000, 1)} kHz`),
      h('span', { class: `take-standing is-${standing}` }, t(`takes.upload.${standing}`)),
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
    this.wave.places = this.markers;
    this.spectrum.places = this.markers;
    this.timeline.draw();
    this.places.show(this.markers);
    this.#showLegend();
  }

  /** Explains the signs that are in the picture. */
  #showLegend() {
    const { sidecar, t } = this;
    const kinds = [
      ['marker', this.markers.length], ['gap', sidecar.gaps.length],
      ['loss', sidecar.suspected_losses?.length ?? 0], ['filter', sidecar.filter.length - 1],
    ].filter(([, count]) => count > 0);
    this.legend.hidden = !kinds.length;
    this.legend.replaceChildren(...kinds.map(([kind]) => h('li', { class: `is-${kind}` }, t(`take.legend.${kind}`))));
  }

  #keys() {
    const { t } = this;
    const rows = [['␣', 'space'], ['← →', 'arrows'], ['+ −', 'zoom'], ['0', 'whole'], ['[ ]', 'bounds'], ['b', 'box'], ['Esc', 'clear'], ['j k', 'takes']];
    return h('div', {}, keysSwitch(t), keysTable([...rows.map(([keys, name]) => [keys, t(`keys.${name}`, { n: stepSeconds })]), ['m', t('place.add')], ['r', t('title.edit')]]));
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
        this.places.giveUp();
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
    const isNewest = this.#order.ask();
    try {
      const { take } = await this.context.api.patch(takePath(this.stem), changes);
      if (changes.markers) await this.#refresh();
      else if (isNewest()) this.#took(take);
      this.context.succeed();
      // A memo saved after its take was left still has no location.
      if (this.#isClosed) this.#tellLeft(this.isUnlocated && 'position.left');
      return null;
    } catch (error) {
      // A memo that was being saved is deleted with its take. The offer to undo that stays.
      if (this.isDeleted) return error;
      const kept = this.#isClosed && ('memo' in changes ? 'note.kept' : changes.markers && this.places.isUnsaved && 'place.kept');
      this.context.fail(kept ? new Error(`${error.message} ${this.t(kept, { name: nameText(this.take, this.t) })}`) : error);
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
    if (take !== this.stem && what !== 'many') return;
    if (!this.take) {
      // The library did not know it yet.
      await this.load();
      return;
    }
    if (what === 'removed') {
      this.context.fail(new Error(this.t('take.gone')));
      this.player.pause();
    } else {
      await this.#refresh();
    }
  }

  #connected(isConnected) {
    if (isConnected && this.wasAway) this.#continue();
    this.wasAway = !isConnected;
  }

  /** After a lost connection, requests what was missed, and saves what could not be saved. */
  async #continue() {
    if (!this.take) {
      await this.load();
      return;
    }
    await this.#refresh();
    this.notes.saveAgain();
    this.places.saveAgain();
  }

  async #refresh() {
    const isNewest = this.#order.ask();
    try {
      const { take, markers } = await this.context.api.get(takePath(this.stem));
      if (this.#isClosed || !isNewest()) return;
      this.markers = markers;
      // A continued take is longer, and the whole page shows the shorter one. A memo that is being edited stays.
      if (take.frames !== this.shownFrames && !this.#isInUse) await this.load();
      else this.#took(take);
    } catch (error) {
      this.context.say(error.message);
    }
  }

  #toggle() {
    if (this.player.isPlaying) {
      this.player.pause();
      return;
    }
    this.player.play();
    this.timeline.setFrame(this.player.frame);
    this.timeline.reveal();
  }

  #step(seconds) {
    this.#seek(this.player.frame + seconds * this.take.rate_hz);
    this.timeline.reveal();
  }

  #goTo(marker) {
    this.#seek(marker.at_frame);
    this.timeline.reveal();
    const selection = selectionOf(marker, this.take);
    if (selection) this.timeline.select(selection);
  }

  /** Ends what was begun last: drawing a box, or the selection. */
  #clear() {
    if (this.timeline.isBoxing) this.timeline.setBoxing(false);
    else this.timeline.select(null);
  }

  #seek(frame) {
    this.player.seek(frame);
    this.timeline.setFrame(this.player.frame);
    this.#moved();
  }

  /** During playback, the playhead moves with each animation frame. */
  #moved() {
    cancelAnimationFrame(this.#frameRequest);
    this.#frameRequest = requestAnimationFrame(() => {
      if (this.#isClosed) return;
      this.controls.show();
      this.timeline.setFrame(this.player.frame);
      if (!this.player.isPlaying) return;
      this.timeline.follow();
      this.#moved();
    });
  }

  #key(event) {
    if (!this.timeline || !(areKeysOn() || event.target === this.timeline.touch) || hasCommandKey(event) || isTyping(event)) return;
    const actions = {
      ' ': () => this.#toggle(), ArrowLeft: () => this.#step(-stepSeconds), ArrowRight: () => this.#step(stepSeconds),
      Home: () => this.#goTo({ at_frame: 0 }), End: () => this.#goTo({ at_frame: this.take.frames }),
      '+': () => this.timeline.zoom(0.5), '=': () => this.timeline.zoom(0.5), '-': () => this.timeline.zoom(2), '−': () => this.timeline.zoom(2),
      0: () => this.timeline.show(), '[': () => this.range.bound('from'), ']': () => this.range.bound('to'),
      b: () => this.timeline.setBoxing(!this.timeline.isBoxing), Escape: () => this.#clear(), m: () => this.places.add(),
      r: () => this.#editTitle(), j: () => this.#go(1), k: () => this.#go(-1),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}
