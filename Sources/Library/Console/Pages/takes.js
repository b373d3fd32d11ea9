// The page of all takes: search, the list, and actions on single and on selected ones.
import { AnswerOrder, loadPart } from './api.js';
import { areKeysOn, button, download, h, hasCommandKey, isTyping, onColours, setText } from './dom.js';
import { begun, headingText, numberText, shortText } from './format.js';
import { Queue, restOf, soundOf } from './sound.js';
import { archiveURL, deletePath, deleteQuestion, each, hasBin, mostInArchive, offerUndo, takePath } from './take-actions.js';
import { TakesList } from './takes-list.js';
import { countOf, isByTime, noConditions, openTakesSheet, queryOf, Swipe, takeRow, typingRest } from './takes-parts.js';
import { counted } from './texts.js';
import { Thumbnails } from './waveform.js';

const refreshRest = 1000;
/** The page of a take is loaded this long after the list, in milliseconds, so that it is there when a take is opened. */
const preloadRest = 1500;
/** Takes that are deleted within this time, in milliseconds, are restored by one undo. */
const undoTogether = 8000;
/** Playback from a marker begins this much before it, in seconds. */
const leadSeconds = 1;
/** The conditions that have a button above the list, because people look for these takes most. */
const frequent = [['when', 'night'], ['sort', 'loudest'], ['sort', 'longest']];

/** The page's state when it was left, to restore it. */
let memory = null;

/**
 * Shows the page of all takes.
 * @param {HTMLElement} root
 * @param {object} context The console's context.
 * @returns {() => void} Ends the page.
 */
export function takesPage(root, context) {
  const page = new TakesPage(root, context);
  setTimeout(() => loadPart('take.js').catch(() => {}), preloadRest);
  return () => page.close();
}

class TakesPage {
  #selected = new Map();
  #isSelecting = false;
  #anchor = null;
  #timer = 0;
  #isUTC = memory?.isUTC ?? false;
  #conditions = { ...noConditions, ...memory?.conditions };
  #sum = null;
  #sheet = null;
  #heard = { stem: '', state: 'none' };
  #deleted = { stems: [], at: 0 };
  /** By stem, the order of the answers about a take. */
  #orders = new Map();
  /** The finger on a row, and that row. */
  #swipe = new Swipe();
  #swiped = null;

  constructor(root, context) {
    this.context = context;
    this.t = context.t;
    this.sound = soundOf(context);
    this.thumbnails = new Thumbnails();
    this.list = new TakesList({
      get: (path) => context.api.get(path), makeRow: (take) => this.#row(take),
      dayOf: (take) => (isByTime(this.#conditions) ? headingText(begun(take)) : ''),
      sumOf: ({ count, seconds }) => this.#sumText(count, seconds),
      isNewestFirst: () => this.#conditions.sort === 'newest',
      onState: (state, error) => this.#tell(state, error), onSum: (sum) => this.#showSum(sum),
    });
    this.state = h('div', { class: 'takes-state', role: 'status' });
    this.count = h('p', { class: 'takes-count', role: 'status' });
    this.bar = this.#makeBar();
    root.append(h('div', { class: 'takes' },
      h('div', { class: 'takes-head' }, h('h1', {}, this.t('nav.takes')), this.count), this.#makeSearch(), this.list.element, this.state, this.bar));
    this.#showConditions();
    this.#begin();
    this.#listen();
  }

  close() {
    const { scrollY } = window;
    this.sound.list = this.#queue();
    memory = { ...this.list.remember(), conditions: this.#conditions, isUTC: this.#isUTC, scroll: scrollY };
    clearTimeout(this.#timer);
    clearTimeout(this.refreshing);
    clearTimeout(this.counting);
    this.list.close();
    this.thumbnails.close();
    this.unlisten();
  }

  get #mayChange() { return this.context.session()?.right === 'all'; }

  #begin() {
    this.kits = [];
    this.context.api.get('/api/library').then(({ kits }) => { this.kits = kits; }, () => {});
    if (memory?.pages.length && memory.query === this.#query()) {
      this.list.restore(memory);
      window.scrollTo(0, memory.scroll);
      this.list.refreshHead().catch((error) => this.context.say(error.message));
    } else {
      window.scrollTo(0, 0);
      this.list.search(this.#query());
    }
  }

  #listen() {
    const onKey = (event) => this.#key(event);
    document.addEventListener('keydown', onKey);
    this.#listenToFingers();
    const { events } = this.context;
    const ends = [
      events.on('catalog', (event) => this.#changed(event)),
      events.on('connection', ({ isConnected }) => this.#connected(isConnected)),
      this.sound.on(() => this.#showSound()),
      onColours(() => this.list.forEachRow((row) => this.thumbnails.redraw([row.canvas]))), () => document.removeEventListener('keydown', onKey),
    ];
    this.unlisten = () => { for (const end of ends) end(); };
  }

  // MARK: Changes

  /** After a lost connection, requests the changes made meanwhile. */
  #connected(isConnected) {
    if (isConnected && this.wasAway) this.#refresh();
    this.wasAway = !isConnected;
  }

  async #changed({ what, take: stem }) {
    try {
      if (what === 'removed') {
        this.list.remove(stem);
        this.#select([stem], false);
        this.#countSoon();
      } else if (what === 'added') {
        await this.list.refreshHead();
        // A kit whose clock was not set yet records takes with earlier dates than existing ones.
        if (!this.list.find(stem)) this.#refreshSoon();
      } else if (what === 'many') {
        this.#refreshSoon();
      } else {
        if (this.list.find(stem)) await this.#update(stem, this.context.api.get(takePath(stem)));
        // The take may match the search now, or may not match it any more.
        if (this.#query()) this.#refreshSoon();
      }
    } catch (error) {
      this.context.say(error.message);
    }
  }

  /** Shows the answer about a take, unless a later one is shown. */
  async #update(stem, answer) {
    if (!this.#orders.has(stem)) this.#orders.set(stem, new AnswerOrder());
    const isNewest = this.#orders.get(stem).ask();
    const { take } = await answer;
    if (isNewest()) this.list.update(take);
  }

  #refresh() { this.list.refresh().catch((error) => this.context.say(error.message)); }

  /** Requests the list again, once for all changes made meanwhile. */
  #refreshSoon() {
    this.refreshing ??= setTimeout(() => {
      this.refreshing = null;
      this.#refresh();
    }, refreshRest);
  }

  /** Counts the takes again, once for all changes made meanwhile. */
  #countSoon() {
    this.counting ??= setTimeout(() => {
      this.counting = null;
      this.list.count().catch(() => {});
    }, refreshRest);
  }

  // MARK: Search and conditions

  #query() { return queryOf(this.#conditions); }

  #change(changes, rest = 0) {
    Object.assign(this.#conditions, changes);
    this.#showConditions();
    // What a row shows depends on the order.
    this.list.forEachRow((row) => row.refresh());
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.list.search(this.#query()), rest);
  }

  #makeSearch() {
    const { t } = this;
    this.search = h('input', {
      type: 'search', value: this.#conditions.q, placeholder: t('takes.search.example'), 'aria-label': t('takes.search'), enterkeyhint: 'search',
      oninput: () => this.#change({ q: this.search.value }, typingRest),
    });
    this.filter = button('', () => this.#openSheet(), { class: 'takes-filter' });
    this.selecting = button('☑\uFE0E', () => this.#setSelecting(!this.#isSelecting), {
      class: 'takes-select', 'aria-label': t('takes.selecting'), title: t('takes.selecting'), 'aria-pressed': 'false',
    });
    // A second tap removes the condition.
    this.frequent = frequent.map(([name, value]) => button(t(`takes.${name}.${value}`), () => this.#change({
      [name]: this.#conditions[name] === value ? noConditions[name] : value,
    })));
    return h('search', { class: 'takes-search' }, this.search, this.filter, this.selecting,
      h('div', { class: 'takes-frequent', role: 'group', 'aria-label': t('takes.filter') }, ...this.frequent));
  }

  #showConditions() {
    const count = countOf(this.#conditions) + (this.#conditions.sort === noConditions.sort ? 0 : 1);
    this.filter.textContent = count ? `${this.t('deck.filter')} · ${count}` : this.t('deck.filter');
    this.filter.classList.toggle('primary', count > 0);
    frequent.forEach(([name, value], index) => this.frequent[index].setAttribute('aria-pressed', String(this.#conditions[name] === value)));
  }

  #openSheet() {
    this.#sheet = openTakesSheet({
      t: this.t, conditions: this.#conditions, kits: this.kits, isUTC: this.#isUTC,
      onChange: (changes, rest) => this.#change(changes, rest),
      onUTC: (isUTC) => {
        this.#isUTC = isUTC;
        this.list.forEachRow((row) => row.refresh());
      },
      onClose: () => {
        this.#sheet = null;
        this.filter.focus();
      },
    });
    this.#showSum(this.#sum);
  }

  #showSum(sum) {
    if (sum?.total === undefined) return;
    this.#sum = sum;
    setText(this.count, this.#sumText(sum.total, sum.seconds));
    this.#sheet?.show(counted(this.t, 'takes.count', sum.total));
  }

  #sumText(n, seconds) {
    return [counted(this.t, 'takes.count', n), n && shortText(seconds, this.t)].filter(Boolean).join(' · ');
  }

  // MARK: Rows

  #row(take) {
    return takeRow(take, {
      t: this.t, thumbnails: this.thumbnails, mayChange: this.#mayChange,
      href: ({ take: stem, match, rate_hz: rate }) => `#/takes/${encodeURIComponent(stem)}${match ? `?see=${(match.at_frame / rate).toFixed(3)}` : ''}`,
      look: () => ({
        isUTC: this.#isUTC, hasDates: !isByTime(this.#conditions), hasPeaks: ['loudest', 'quietest'].includes(this.#conditions.sort),
        isSelecting: this.#isSelecting,
      }),
      soundOf: (stem) => this.sound.stateOf(stem), isSelected: (stem) => this.#selected.has(stem),
      onPlay: (one) => this.#play(one), onStar: (one) => this.#star(one),
      onSelect: (one, isOn, isRange) => this.#pick(one.take, isOn, isRange),
      onRename: (one, title) => this.#rename(one, title),
    });
  }

  /** The takes after and before one, as the list has them now. */
  #queue() {
    return new Queue(this.list.stems, restOf((path) => this.context.api.get(path), this.#query(), this.list.next));
  }

  #play(take) {
    const from = take.match && Math.max(0, take.match.at_frame - leadSeconds * take.rate_hz);
    this.sound.toggle(take, this.#queue(), from ?? null);
  }

  /** Shows which take is heard. The player reports many times a second. */
  #showSound() {
    const stem = this.sound.player?.take.take ?? '';
    const state = this.sound.stateOf(stem);
    const before = this.#heard;
    if (stem === before.stem && state === before.state) return;
    this.#heard = { stem, state };
    for (const one of new Set([before.stem, stem])) this.list.rowOf(one)?.refresh();
  }

  async #patch(take, changes) {
    try {
      await this.#update(take.take, this.context.api.patch(takePath(take.take), changes));
      this.context.succeed();
      return null;
    } catch (error) {
      this.context.fail(error);
      return error;
    }
  }

  #star(take) { return this.#patch(take, { starred: !take.starred }); }

  #rename(take, title) { return this.#patch(take, { title }); }

  /** Deletes a take at once, if that can be undone. */
  async #deleteOne(take) {
    if (!this.#mayChange) return;
    if (!hasBin(this.context)) {
      await this.#deleteAll([take]);
      return;
    }
    try {
      await this.context.api.delete(deletePath(take, 'here'));
    } catch (error) {
      this.context.fail(error);
      return;
    }
    this.list.remove(take.take);
    this.#countSoon();
    const now = performance.now();
    const { stems, at } = this.#deleted;
    this.#deleted = { stems: [...(now - at < undoTogether ? stems : []), take.take], at: now };
    offerUndo(this.context, this.#deleted.stems, () => {
      this.#deleted = { stems: [], at: 0 };
      this.#refresh();
    });
  }

  // MARK: Fingers and keys

  #listenToFingers() {
    const { rows } = this.list;
    const act = (kind) => (event) => {
      if (event.pointerType === 'touch') this.#slide(this.#swipe[kind]({ id: event.pointerId, x: event.clientX, y: event.clientY }));
    };
    rows.addEventListener('pointerdown', (event) => {
      const link = event.target.closest('.take-link');
      if (!link || !this.#mayChange || this.#isSelecting || event.pointerType !== 'touch' || !event.isPrimary) return;
      // The row of an earlier finger may have been removed under it.
      this.#swipe = new Swipe();
      this.#swiped = link.closest('.take-row');
      act('down')(event);
    });
    rows.addEventListener('pointermove', act('move'));
    rows.addEventListener('pointerup', act('up'));
    rows.addEventListener('pointercancel', act('cancel'));
    // A finger that moved a row does not open its take.
    rows.addEventListener('click', (event) => {
      if (!this.hasSlid) return;
      event.preventDefault();
      event.stopPropagation();
    }, true);
  }

  #slide(action) {
    const row = this.#swiped;
    const link = row?.querySelector('.take-link');
    switch (action.kind) {
      case 'none':
        return;
      case 'slide':
        row.dataset.swipe = action.by > 0 ? 'star' : 'delete';
        row.dataset.hint = this.t(action.by > 0 ? 'keys.star' : 'takes.delete');
        row.classList.toggle('is-enough', action.isEnough);
        link.style.setProperty('transform', `translateX(${action.by}px)`);
        return;
      case 'act':
      case 'back': {
        this.hasSlid = true;
        setTimeout(() => { this.hasSlid = false; }, 300);
        link.style.removeProperty('transform');
        delete row.dataset.swipe;
        this.#swiped = null;
        const take = this.list.rowOf(row.dataset.stem)?.take;
        if (action.kind === 'act' && take) (action.side === 'right' ? this.#star(take) : this.#deleteOne(take));
      }
    }
  }

  #key(event) {
    const row = event.target.closest?.('.take-row');
    const isOnLink = event.target.matches?.('.take-link');
    if (!areKeysOn() || hasCommandKey(event) || (isTyping(event) && !(event.key === ' ' && isOnLink))) return;
    const stem = row?.dataset.stem ?? null;
    const own = stem && this.list.rowOf(stem);
    const onRow = (body) => (own ? () => body(own) : null);
    const actions = {
      j: () => this.list.focus(stem, 1), k: () => this.list.focus(stem, -1), '/': () => this.search.focus(), n: () => this.sound.step(1),
      ' ': own ? () => this.#play(own.take) : this.sound.player && (() => this.sound.playOrPause()),
      s: onRow(({ take }) => this.#mayChange && this.#star(take)), r: onRow((one) => this.#mayChange && one.rename()),
      Delete: onRow(({ take }) => this.#deleteOne(take)),
      x: onRow(({ take }) => {
        this.#setSelecting(true);
        this.#pick(take.take, !this.#selected.has(take.take), false);
      }),
      Escape: this.#isSelecting ? () => this.#setSelecting(false) : null,
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  // MARK: Selection

  #setSelecting(isSelecting) {
    this.#isSelecting = isSelecting;
    this.selecting.setAttribute('aria-pressed', String(isSelecting));
    if (!isSelecting) this.#selected.clear();
    this.#showSelection();
  }

  /** Selects one take, or with the shift key all from the last one on. */
  #pick(stem, isOn, isRange) {
    const { stems } = this.list;
    const [from, to] = [stems.indexOf(this.#anchor), stems.indexOf(stem)].sort((a, b) => a - b);
    this.#select(isRange && from >= 0 ? stems.slice(from, to + 1) : [stem], isOn);
    this.#anchor = stem;
  }

  #select(stems, isOn) {
    const takes = new Map(this.list.takes.map((take) => [take.take, take]));
    for (const stem of stems) {
      if (isOn) this.#selected.set(stem, takes.get(stem) ?? null);
      else this.#selected.delete(stem);
    }
    this.#showSelection();
  }

  #showSelection() {
    const { size } = this.#selected;
    this.bar.hidden = !this.#isSelecting;
    this.selection.textContent = this.t('takes.selected', { n: numberText(size) });
    for (const one of this.bar.querySelectorAll('[data-needs]')) one.disabled = size === 0 || (one.dataset.needs === 'all' && !this.#mayChange);
    this.list.forEachRow((row) => row.refresh());
  }

  #makeBar() {
    const { t } = this;
    this.selection = h('p', { role: 'status' });
    return h('div', { class: 'takes-bar', role: 'group', 'aria-label': t('takes.actions'), hidden: true },
      this.selection, button(t('takes.clear'), () => this.#setSelecting(false)),
      button(t('takes.download'), () => this.#download(), { 'data-needs': 'look' }),
      button(t('takes.send'), () => this.#send(), { 'data-needs': 'all' }),
      button(t('takes.delete'), () => this.#delete(), { class: 'danger', 'data-needs': 'all' }));
  }

  /** Passes the selected takes to `body`. Takes that are not in memory are requested. */
  async #withTakes(body) {
    const takes = [];
    try {
      // One after the other, because they may be thousands.
      for (const [stem, take] of this.#selected) takes.push(take ?? (await this.context.api.get(takePath(stem))).take);
    } catch (error) {
      this.context.fail(error);
      return;
    }
    await body(takes);
  }

  #download() {
    const stems = [...this.#selected.keys()];
    if (stems.length > mostInArchive) this.context.fail(new Error(this.t('takes.download.many', { n: mostInArchive })));
    else download(archiveURL(stems));
  }

  async #send() {
    await this.#withTakes((takes) => this.#do(takes, 'takes.sent', (take) => this.context.api.post(`${takePath(take.take)}/outbox`, { do: 'add' })));
  }

  async #delete() { await this.#withTakes((takes) => this.#deleteAll(takes)); }

  async #deleteAll(takes) {
    const { t, context } = this;
    if (!await context.ask(deleteQuestion(takes, 'here', t), { confirm: t('takes.delete'), danger: true })) return;
    const deleted = [];
    await this.#do(takes, 'takes.deleted', async (take) => {
      await context.api.delete(deletePath(take, 'here'));
      this.list.remove(take.take);
      deleted.push(take.take);
    }, () => offerUndo(context, deleted, () => this.#refresh()));
    this.#countSoon();
  }

  /** Runs an action for each take, reports how many succeeded, and keeps the failed ones selected. */
  async #do(takes, key, body, say = null) {
    const { done, errors } = await each(takes, body);
    this.#select(done.map((take) => take.take), false);
    if (!errors.length) this.#setSelecting(false);
    const sentence = counted(this.t, key, done.length);
    if (errors.length) this.context.fail(new Error(`${sentence} ${errors[0].message}`));
    else if (say) say();
    else this.context.say(sentence);
  }

  // MARK: State

  #tell(state, error) {
    this.list.element.setAttribute('aria-busy', String(state === 'busy'));
    const { t } = this;
    const contents = {
      busy: () => [t('takes.loading')], ready: () => [], empty: () => this.#emptyText(),
      failed: () => [error?.message ?? '', button(t('page.again'), () => this.list.retry())],
    };
    this.state.replaceChildren(...contents[state]());
  }

  /** Says whether the kit has no take, or none that matches. */
  #emptyText() {
    const { t } = this;
    if (this.#conditions.q.trim() || countOf(this.#conditions)) {
      return [h('p', {}, t('takes.none')), button(t('takes.reset'), () => {
        this.search.value = '';
        this.#change({ ...noConditions });
      })];
    }
    return [h('p', {}, t('takes.never')), h('a', { class: 'button', href: '#/deck' }, t('takes.record'))];
  }
}
