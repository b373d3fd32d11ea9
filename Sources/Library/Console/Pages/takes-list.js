// The list of takes as a window over any number of them: pages of rows, of which only those near the screen are filled.
// The server pages forward by key. The keys of visited pages are kept, so that an emptied page can be filled again.
import { begun, dayText } from './takes-format.js';
import { h } from './dom.js';

const pageSize = 50;
/** The number of pages that keep their takes in memory. */
const mostHeld = 40;
const margin = '120% 0px';

/**
 * @typedef {object} Page
 * @property {string|null} after The page begins after this key.
 * @property {string[]} stems
 * @property {string|null} next The key of the next page.
 * @property {string} dayBefore The day of the take before its first.
 * @property {number} height The height of its empty element in pixels.
 * @property {object[]|null} takes
 * @property {HTMLElement} element
 */

/** Takes in pages, newest first. */
export class TakesList {
  /** @type {Page[]} */
  #pages = [];
  #rows = new Map();
  #held = [];
  #isLoading = false;
  #generation = 0;
  #query = '';
  #refreshing = Promise.resolve();
  /** When takes were removed. An answer that was in transit at that time still includes them. */
  #gone = new Map();

  /**
   * @param {object} options
   * @param {(path: string) => Promise<object>} options.get
   * @param {(take: object) => {element: HTMLElement, update: (take: object) => void, release: () => void}} options.makeRow
   * @param {(state: 'busy'|'ready'|'empty'|'failed', error?: Error) => void} options.onState
   */
  constructor({ get, makeRow, onState }) {
    Object.assign(this, { get, makeRow, onState });
    this.end = h('div', { class: 'takes-end' });
    this.element = h('div', { class: 'takes-list' }, this.end);
    this.near = new IntersectionObserver((entries) => this.#moved(entries), { rootMargin: margin });
    this.near.observe(this.end);
  }

  close() {
    this.#generation += 1;
    this.near.disconnect();
    for (const row of this.#rows.values()) row.release();
  }

  /** The state to restore the list later: keys and heights, without rows. */
  remember() {
    for (const page of this.#pages) this.#measure(page);
    return {
      query: this.#query,
      pages: this.#pages.map(({ after, stems, next, dayBefore, height }) => ({ after, stems, next, dayBefore, height })),
    };
  }

  /** Restores a remembered state. */
  restore({ query, pages }) {
    this.#query = query;
    for (const page of pages) this.#append({ ...page, takes: null });
  }

  /** Starts again with other conditions. @param {string} query The conditions as a query string. */
  async search(query) {
    this.#generation += 1;
    this.#query = query;
    this.#isLoading = false;
    for (const page of this.#pages) this.#discard(page);
    this.#pages = [];
    await this.#loadNext();
  }

  /** Loads the next page after a failure. */
  retry() { return this.#loadNext(); }

  /** The loaded stems, in order. */
  get stems() { return this.#pages.flatMap((page) => page.stems); }

  /** A take that is held in memory. */
  find(stem) { return this.#pages.find((page) => page.stems.includes(stem))?.takes?.find((take) => take.take === stem); }

  /** Calls `body` for each existing row. */
  forEachRow(body) { for (const row of this.#rows.values()) body(row); }

  /** Shows the changes of a take. */
  update(take) {
    const page = this.#pages.find((one) => one.stems.includes(take.take));
    if (page?.takes) page.takes = page.takes.map((one) => (one.take === take.take ? take : one));
    this.#rows.get(take.take)?.update(take);
  }

  /** Removes a take that no longer exists. */
  remove(stem) {
    this.#gone.set(stem, performance.now());
    const page = this.#pages.find((one) => one.stems.includes(stem));
    if (!page) return;
    page.stems = page.stems.filter((one) => one !== stem);
    page.takes = page.takes?.filter((take) => take.take !== stem) ?? null;
    this.#removeRow(page, stem);
    this.#forget(stem);
    if (!this.#pages.some((one) => one.stems.length)) this.onState('empty');
  }

  /** Removes a row. With the last row of a day, the day's heading is removed too, unless the next page continues that day. */
  #removeRow(page, stem) {
    const element = this.#rows.get(stem)?.element;
    const group = element?.parentElement;
    element?.remove();
    if (!group || group.firstChild) return;
    const heading = group.previousElementSibling;
    const next = this.#pages[this.#pages.indexOf(page) + 1];
    const isLast = !group.nextElementSibling;
    if (isLast && next?.stems.length && (!next.takes || dayOf(next.takes[0]) === heading?.textContent)) return;
    if (heading?.matches('.takes-day')) heading.remove();
    group.remove();
  }

  /** Inserts new takes before the first page, which keeps its place on the screen. */
  refreshHead() {
    // One refresh after the other, because each must know which takes the previous one inserted.
    const done = this.#refreshing.then(() => this.#putNew());
    this.#refreshing = done.catch(() => {});
    return done;
  }

  async #putNew() {
    const generation = this.#generation;
    const head = this.#pages.find((page) => page.stems.length);
    if (!head) {
      await this.search(this.#query);
      return;
    }
    const { takes } = await this.#fetch(null, pageSize);
    const known = takes.findIndex((take) => head.stems.includes(take.take));
    if (generation !== this.#generation || known === 0) return;
    if (known < 0) {
      await this.search(this.#query);
      return;
    }
    const fresh = await this.#fetch(null, known);
    if (generation !== this.#generation) return;
    if (fresh.takes.at(-1)?.take !== takes[known - 1].take) {
      // Takes were added or removed between the two answers.
      await this.#putNew();
      return;
    }
    this.#pages[0].after = fresh.next;
    const page = { after: null, stems: fresh.takes.map((take) => take.take), next: fresh.next, dayBefore: '', height: 0, takes: fresh.takes };
    this.#place(page, this.#pages[0].element);
    this.#pages.unshift(page);
    this.#pages[1].dayBefore = dayOf(fresh.takes.at(-1));
    this.#refill(this.#pages[1]);
  }

  /** Requests the list again down to the visible part, after changes of takes. The visible part keeps its place and the focus. */
  refresh() {
    const done = this.#refreshing.then(() => this.#renew());
    this.#refreshing = done.catch(() => {});
    return done;
  }

  async #renew() {
    const generation = this.#generation;
    const last = this.#pages.findLastIndex((page) => page.isNear || page.element.firstChild);
    const count = this.#pages.slice(0, last + 1).reduce((sum, page) => sum + page.stems.length, 0);
    const pages = [];
    for (let found = 0, after = null; found < Math.max(1, count);) {
      const { takes, next } = await this.#fetch(after, pageSize);
      if (generation !== this.#generation) return;
      const dayBefore = pages.at(-1)?.lastDay ?? '';
      pages.push({ after, stems: takes.map((take) => take.take), next, dayBefore, lastDay: dayOf(takes.at(-1)) || dayBefore, height: 0, takes });
      found += takes.length;
      after = next;
      if (next === null) break;
    }
    const anchor = this.#anchor();
    const focus = this.#focusIn(this.element);
    this.#generation += 1;
    this.#isLoading = false;
    for (const page of this.#pages) this.#discard(page);
    this.#pages = [];
    for (const page of pages) this.#append(page);
    focus?.();
    const row = anchor && this.#rows.get(anchor.stem);
    if (row) window.scrollBy(0, row.element.getBoundingClientRect().top - anchor.top);
    this.onState(pages[0].stems.length ? 'ready' : 'empty');
    this.near.unobserve(this.end);
    this.near.observe(this.end);
  }

  /** The first visible row and its position, or null at the top of the list. */
  #anchor() {
    if (window.scrollY === 0) return null;
    for (const { stems } of this.#pages) {
      for (const stem of stems) {
        const box = this.#rows.get(stem)?.element.getBoundingClientRect();
        if (box && box.bottom > 0) return { stem, top: box.top };
      }
    }
    return null;
  }

  async #fetch(after, limit) {
    const key = after === null ? '' : `&after=${encodeURIComponent(after)}`;
    const began = performance.now();
    const { takes, next } = await this.get(`/api/takes?${this.#query}&limit=${limit}${key}`);
    return { takes: takes.filter(({ take }) => !(this.#gone.get(take) > began)), next };
  }

  async #loadNext() {
    const last = this.#pages.at(-1);
    if (this.#isLoading || (last && last.next === null)) return;
    const generation = this.#generation;
    this.#isLoading = true;
    this.onState('busy');
    try {
      const { takes, next } = await this.#fetch(last?.next ?? null, pageSize);
      if (generation !== this.#generation) return;
      const dayBefore = last?.lastDay ?? '';
      const page = { after: last?.next ?? null, stems: takes.map((take) => take.take), next, dayBefore, height: 0, takes };
      this.#append(page);
      this.onState(this.#pages.length === 1 && !takes.length ? 'empty' : 'ready');
      this.#isLoading = false;
      // The end may still be near, and an observer reports only changes.
      this.near.unobserve(this.end);
      this.near.observe(this.end);
    } catch (error) {
      if (generation === this.#generation) this.onState('failed', error);
    } finally {
      if (generation === this.#generation) this.#isLoading = false;
    }
  }

  #append(page) {
    this.#place(page, this.end);
    this.#pages.push(page);
  }

  #place(page, before) {
    page.element = h('div', { class: 'takes-page' });
    page.isNear = false;
    if (page.takes) this.#hold(page);
    page.element.style.setProperty('height', page.height ? `${page.height}px` : `${page.stems.length * 6}rem`);
    page.element.page = page;
    before.before(page.element);
    if (page.takes) this.#render(page);
    this.near.observe(page.element);
  }

  #moved(entries) {
    for (const { target, isIntersecting } of entries) {
      if (target === this.end) {
        if (isIntersecting && this.#pages.length) this.#loadNext();
        continue;
      }
      target.page.isNear = isIntersecting;
      if (isIntersecting) this.#fill(target.page);
      else this.#empty(target.page);
    }
  }

  async #fill(page) {
    if (page.element.firstChild && page.takes) return;
    if (!page.takes) {
      const generation = this.#generation;
      const takes = await this.#fetchPage(page).catch(() => null);
      if (!takes || generation !== this.#generation) return;
      this.#take(page, takes);
    }
    if (page.isNear) this.#render(page);
  }

  /** The current takes of a page. Newer takes before a page without a key are left to `refreshHead`. */
  async #fetchPage({ after, stems }) {
    const count = Math.max(1, stems.length);
    if (after !== null) return (await this.#fetch(after, count)).takes;
    const { takes } = await this.#fetch(null, count + pageSize);
    const first = takes.findIndex((take) => stems.includes(take.take));
    return first < 0 ? [] : takes.slice(first, first + count);
  }

  /** Applies the server's current takes of a page, but not those of the next pages, from which takes may be missing as well. */
  #take(page, takes) {
    const index = this.#pages.indexOf(page);
    const later = this.#pages.slice(index + 1, index + 4).flatMap(({ stems }) => stems);
    const end = takes.findIndex((take) => later.includes(take.take));
    page.takes = end < 0 ? takes : takes.slice(0, end);
    page.stems = page.takes.map((take) => take.take);
    this.#hold(page);
  }

  #hold(page) {
    page.lastDay = page.takes.length ? dayOf(page.takes.at(-1)) : page.dayBefore;
    this.#held = [...this.#held.filter((one) => one !== page), page];
    if (this.#held.length > mostHeld) this.#held.shift().takes = null;
  }

  #render(page) {
    const focus = this.#focusIn(page.element);
    const groups = [];
    let day = page.dayBefore;
    for (const take of page.takes) {
      const own = dayOf(take);
      if (own !== day || !groups.length) {
        if (own !== day) groups.push(h('h2', { class: 'takes-day' }, own));
        groups.push(h('ul', { class: 'takes-rows', role: 'list' }));
      }
      day = own;
      groups.at(-1).append(this.#row(take));
    }
    page.element.replaceChildren(...groups);
    page.element.style.removeProperty('height');
    focus?.();
  }

  /** Returns the focus to the same part of the same row. Null if the focus is elsewhere. */
  #focusIn(element) {
    const { activeElement } = document;
    if (!element.contains(activeElement)) return null;
    const parts = (row) => [...row.element.querySelectorAll('a, button, input')];
    for (const [stem, row] of this.#rows) {
      const index = parts(row).indexOf(activeElement);
      if (index >= 0) return () => { const own = this.#rows.get(stem); if (own) parts(own)[index]?.focus({ preventScroll: true }); };
    }
    return null;
  }

  #row(take) {
    this.#rows.get(take.take)?.release();
    const row = this.makeRow(take);
    this.#rows.set(take.take, row);
    return row.element;
  }

  #refill(page) {
    if (page.element.firstChild && page.takes) this.#render(page);
  }

  #empty(page) {
    // A row with the focus stays, so that the reader's place does not vanish.
    if (!page.element.firstChild || page.element.contains(document.activeElement)) return;
    this.#measure(page);
    page.element.style.setProperty('height', `${page.height}px`);
    for (const stem of page.stems) this.#forget(stem);
    page.element.replaceChildren();
  }

  #measure(page) {
    if (page.element.firstChild) page.height = page.element.getBoundingClientRect().height;
  }

  #forget(stem) {
    this.#rows.get(stem)?.release();
    this.#rows.delete(stem);
  }

  #discard(page) {
    this.near.unobserve(page.element);
    for (const stem of page.stems) this.#forget(stem);
    page.element.remove();
  }
}

const dayOf = (take) => (take ? dayText(begun(take), false) : '');
