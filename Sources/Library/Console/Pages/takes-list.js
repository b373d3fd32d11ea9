// The list of takes as a window over any number of them: only the rows near the screen exist. The server pages forward by key. The keys
// of loaded pages are kept, so that a page whose takes were dropped can be fetched again.
import { AnswerOrder } from './api.js';
import { h } from './dom.js';
import { dayRuns, RowLayout, withoutTake } from './takes-parts.js';

const pageSize = 50;
/** The most takes in an answer. */
const mostAtOnce = 200;
/** The number of pages that keep their takes in memory. */
const mostHeld = 40;
/** Rows that exist above and below the screen. */
const spareRows = 3;
/** The next page is requested when so many rows are left below the screen. */
const rowsAhead = 25;

/**
 * @typedef {object} Page
 * @property {string|null} after The page begins after this key.
 * @property {string|null} next The key of the next page.
 * @property {string[]} stems
 * @property {{index: number, text: string, seconds: number}[]} days The runs of days, see `dayRuns`.
 * @property {object[]|null} takes
 */

/** Takes in pages. */
export class TakesList {
  /** @type {Page[]} */
  #pages = [];
  #rows = new Map();
  /** Pages whose takes are in memory, in order of use. */
  #held = [];
  #layout = new RowLayout([], { row: 1, head: 1, isComplete: false });
  #sizes = { row: 58, head: 30 };
  /** `ready`, `busy`, `failed` or `closed`. */
  #state = 'ready';
  #fetching = new Set();
  #frame = 0;
  #generation = 0;
  #query = '';
  #total = -1;
  #refreshing = Promise.resolve();
  /** By stem, the last changes of takes: null after a removal, and when. An answer that was in transit at that time lacks them. */
  #news = new Map();
  #sums = new AnswerOrder();

  /**
   * @param {object} options
   * @param {(path: string) => Promise<object>} options.get
   * @param {(take: object) => object} options.makeRow A row as of `takeRow`.
   * @param {(take: object) => string} options.dayOf The heading of a take's day; empty if the list has no days.
   * @param {(day: object) => string} options.sumOf How much a day has, see `Day` of `RowLayout`.
   * @param {() => boolean} options.isNewestFirst Whether new takes come at the head.
   * @param {(state: 'busy'|'ready'|'empty'|'failed', error?: Error) => void} options.onState
   * @param {(sum: {total: number, seconds: number}) => void} options.onSum Called with the takes that match, and their length.
   */
  constructor(options) {
    Object.assign(this, options);
    this.rows = h('ol', { class: 'takes-rows', role: 'list' });
    // Repeats the heading of the day that was scrolled away.
    this.now = h('p', { class: 'takes-day takes-now', 'aria-hidden': 'true', hidden: true });
    this.probe = h('div', { class: 'takes-probe', 'aria-hidden': 'true' });
    this.element = h('div', { class: 'takes-list' }, this.now, this.probe, this.rows);
    this.onScroll = () => this.#drawSoon();
    addEventListener('scroll', this.onScroll, { passive: true });
    addEventListener('resize', this.onScroll);
    this.resized = new ResizeObserver(() => this.#measure());
    this.resized.observe(this.probe);
  }

  close() {
    this.#state = 'closed';
    this.#generation += 1;
    cancelAnimationFrame(this.#frame);
    removeEventListener('scroll', this.onScroll);
    removeEventListener('resize', this.onScroll);
    this.resized.disconnect();
    for (const row of this.#rows.values()) row.release();
  }

  /** The state to restore the list later: keys and days, without takes. */
  remember() {
    return { query: this.#query, pages: this.#pages.map(({ after, stems, next, days }) => ({ after, stems, next, days })) };
  }

  /** Restores a remembered state. */
  restore({ query, pages }) {
    this.#query = query;
    this.#measure();
    this.#set(pages.map((page) => ({ ...page, takes: null })));
    this.onState('ready');
  }

  /** Starts again with other conditions. The rows stay until there are others. @param {string} query The conditions as a query string. */
  async search(query) {
    this.#generation += 1;
    this.#query = query;
    this.#measure();
    await this.#load(null);
  }

  /** Loads again what failed. */
  retry() { return this.#load(this.#pages.at(-1) ?? null); }

  /** The loaded stems, in order. */
  get stems() { return this.#pages.flatMap((page) => page.stems); }

  /** The takes that are held in memory. */
  get takes() { return this.#pages.flatMap((page) => page.takes ?? []); }

  /** The key after the loaded stems; null if there are no more. */
  get next() { return this.#pages.at(-1)?.next ?? null; }

  /** A take that is held in memory. */
  find(stem) { return this.#pages.find((page) => page.stems.includes(stem))?.takes?.find((take) => take.take === stem); }

  /** The row of a take, if it exists. */
  rowOf(stem) { return this.#rows.get(stem); }

  /** Calls `body` for each existing row. */
  forEachRow(body) { for (const row of this.#rows.values()) body(row); }

  /** Shows the changes of a take. */
  update(take) {
    const page = this.#pages.find((one) => one.stems.includes(take.take));
    // Only the list has the marker that was found.
    const changed = { match: this.find(take.take)?.match, ...take };
    if (page) this.#news.set(take.take, { take, at: performance.now() });
    if (page?.takes) page.takes = page.takes.map((one) => (one.take === take.take ? changed : one));
    this.#rows.get(take.take)?.update(changed);
  }

  /** Moves the focus to the row `step` rows after that of a stem, or to the first visible one. Returns whether there is one. */
  focus(stem, step = 0) {
    const { stems } = this;
    const from = stem === null ? -1 : stems.indexOf(stem);
    const wanted = from < 0 ? this.#firstSeen() : stems[Math.min(stems.length - 1, Math.max(0, from + step))];
    if (wanted === undefined) return false;
    this.#reveal(wanted);
    this.#rows.get(wanted)?.link.focus({ preventScroll: true });
    return true;
  }

  /** Removes a take that no longer exists. */
  remove(stem) {
    this.#news.set(stem, { take: null, at: performance.now() });
    const page = this.#pages.find((one) => one.stems.includes(stem));
    if (!page) return;
    const index = page.stems.indexOf(stem);
    const hadFocus = this.#rows.get(stem)?.element.contains(document.activeElement);
    const neighbour = hadFocus ? this.stems[this.stems.indexOf(stem) + 1] ?? this.stems[this.stems.indexOf(stem) - 1] : null;
    page.days = withoutTake(page.days, index, page.stems.length, page.takes?.[index]?.duration_seconds ?? 0);
    page.stems = page.stems.filter((one) => one !== stem);
    page.takes = page.takes?.filter((take) => take.take !== stem) ?? null;
    this.#forget(stem);
    this.#set(this.#pages);
    if (neighbour) this.focus(neighbour);
    if (!this.#pages.some((one) => one.stems.length)) this.onState('empty');
  }

  /** Inserts new takes at the head. What is visible keeps its place on the screen. */
  refreshHead() {
    return this.isNewestFirst() ? this.#next(() => this.#putNew()) : this.refresh();
  }

  /** One refresh after the other, because each must know which takes the previous one inserted. */
  #next(body) {
    const done = this.#refreshing.then(() => (this.#state === 'closed' ? null : body()));
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
    this.#keep(() => this.#set([this.#page(null, fresh), ...this.#pages]));
  }

  /** Counts the takes again. */
  async count() { await this.#fetch(null, 1); }

  /** Requests the list again down to the visible part, after changes of takes. The visible part keeps its place and the focus. */
  refresh() { return this.#next(() => this.#renew()); }

  async #renew() {
    const generation = this.#generation;
    const last = this.#visible(0).at(-1)?.page ?? 0;
    const count = this.#pages.slice(0, last + 1).reduce((sum, page) => sum + page.stems.length, 0);
    const pages = [];
    for (let found = 0, after = null; found < Math.max(1, count);) {
      const answer = await this.#fetch(after, Math.min(mostAtOnce, Math.max(pageSize, count - found)));
      if (generation !== this.#generation) return;
      pages.push(this.#page(after, answer));
      found += answer.takes.length;
      after = answer.next;
      if (after === null) break;
    }
    this.#generation += 1;
    this.#state = 'ready';
    this.#held = [];
    this.#keep(() => {
      this.#set(pages);
      for (const { takes } of pages) for (const take of takes) this.#rows.get(take.take)?.update(take);
    });
    this.onState(pages[0].stems.length ? 'ready' : 'empty');
  }

  async #fetch(after, limit) {
    const key = after === null ? '' : `&after=${encodeURIComponent(after)}`;
    const began = performance.now();
    const query = this.#query;
    const isNewest = this.#sums.ask();
    const { takes, next, total, total_seconds: seconds } = await this.get(`/api/takes?${query}&limit=${limit}${key}`);
    if (total !== undefined && this.#state !== 'closed' && query === this.#query && isNewest()) {
      this.#total = total;
      this.onSum({ total, seconds });
    }
    const newest = takes.map((take) => {
      const news = this.#news.get(take.take);
      return news?.at > began ? news.take && { match: take.match, ...news.take } : take;
    });
    return { takes: newest.filter(Boolean), next };
  }

  #page(after, { takes, next }) {
    const page = { after, next, stems: [], days: [], takes: null };
    this.#hold(page, takes);
    return page;
  }

  #hold(page, takes) {
    page.takes = takes;
    page.stems = takes.map((take) => take.take);
    page.days = dayRuns(takes, this.dayOf);
    this.#held = [...this.#held.filter((one) => one !== page), page];
    if (this.#held.length > mostHeld) this.#held.shift().takes = null;
  }

  #loadNext() {
    const last = this.#pages.at(-1);
    if (this.#state === 'ready' && last && last.next !== null) this.#load(last);
  }

  /** Loads the page after the last one; without one, the first page, in the place of all. */
  async #load(last) {
    const generation = this.#generation;
    this.#state = 'busy';
    this.onState('busy');
    const after = last?.next ?? null;
    const answer = await this.#fetch(after, pageSize).catch((error) => ({ error }));
    if (generation !== this.#generation) return;
    if (!last) this.#generation += 1;
    this.#state = answer.error ? 'failed' : 'ready';
    const before = last ? this.#pages : [];
    this.#set(answer.error ? before : [...before, this.#page(after, answer)]);
    if (this.#state === 'failed') this.onState('failed', answer.error);
    // Otherwise the next page is being loaded already.
    else if (this.#state === 'ready') this.onState(this.#pages.some((page) => page.stems.length) ? 'ready' : 'empty');
  }

  /** Fetches the takes of a page again. */
  async #fill(page) {
    if (this.#fetching.has(page)) return;
    this.#fetching.add(page);
    const generation = this.#generation;
    const takes = await this.#fetchPage(page).catch(() => null);
    this.#fetching.delete(page);
    if (!takes || generation !== this.#generation) return;
    // Takes may be missing from the next pages as well. Those stay there.
    const index = this.#pages.indexOf(page);
    const later = this.#pages.slice(index + 1, index + 4).flatMap(({ stems }) => stems);
    const end = takes.findIndex((take) => later.includes(take.take));
    this.#keep(() => {
      this.#hold(page, end < 0 ? takes : takes.slice(0, end));
      this.#set(this.#pages);
    });
  }

  /** The current takes of a page. Newer takes before a page without a key are left to `refreshHead`. */
  async #fetchPage({ after, stems }) {
    const count = Math.max(1, stems.length);
    if (after !== null) return (await this.#fetch(after, count)).takes;
    const { takes } = await this.#fetch(null, count + pageSize);
    const first = takes.findIndex((take) => stems.includes(take.take));
    return first < 0 ? [] : takes.slice(first, first + count);
  }

  // MARK: Display

  /** Changes the pages, and shows them. */
  #set(pages) {
    this.#pages = pages;
    const isComplete = pages.length > 0 && pages.at(-1).next === null;
    this.#layout = new RowLayout(pages, { ...this.#sizes, isComplete });
    this.rows.style.setProperty('height', `${this.#layout.height}px`);
    this.#draw();
  }

  /** Reads the heights of a row and of a heading, which follow the size of the letters and the width. */
  #measure() {
    const style = getComputedStyle(this.probe);
    const [row, head] = [parseFloat(style.height), parseFloat(style.width)];
    if (!row || (row === this.#sizes.row && head === this.#sizes.head)) return;
    this.#sizes = { row, head };
    this.#keep(() => this.#set(this.#pages));
  }

  /** The rows on the screen, and `spare` more on each side. */
  #visible(spare) {
    const { top } = this.rows.getBoundingClientRect();
    const more = spare * this.#sizes.row;
    return this.#layout.within(-top - more, innerHeight - top + more);
  }

  #firstSeen() {
    const [place] = this.#visible(-1);
    return place && this.#pages[place.page].stems[place.index];
  }

  /** Changes the list and leaves the first visible row where it is, except at the beginning of the list. */
  #keep(body) {
    const { top } = this.rows.getBoundingClientRect();
    const seen = top < 0 ? this.#visible(0).map((place) => ({ stem: this.#pages[place.page].stems[place.index], top: place.top })) : [];
    body();
    for (const { stem, top: before } of seen) {
      const after = this.#topOf(stem);
      if (after === null) continue;
      scrollBy(0, after - before);
      this.#draw();
      return;
    }
  }

  #topOf(stem) {
    const page = this.#pages.findIndex(({ stems }) => stems.includes(stem));
    return page < 0 ? null : this.#layout.top(page, this.#pages[page].stems.indexOf(stem));
  }

  /** Scrolls to a row if it is not on the screen. */
  #reveal(stem) {
    if (!this.#rows.has(stem)) {
      const { top } = this.rows.getBoundingClientRect();
      scrollBy(0, top + (this.#topOf(stem) ?? 0) - innerHeight / 2);
      this.#draw();
    }
    this.#rows.get(stem)?.element.scrollIntoView({ block: 'nearest' });
    this.#draw();
  }

  #drawSoon() {
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#state === 'closed') return;
    const { top } = this.rows.getBoundingClientRect();
    const places = this.#visible(spareRows);
    const wanted = new Map();
    for (const place of places) {
      const page = this.#pages[place.page];
      if (page.takes) wanted.set(page.stems[place.index], { ...place, take: page.takes[place.index] });
      else this.#fill(page);
    }
    for (const [stem, row] of this.#rows) {
      // A row with the focus stays, so that the reader's place does not vanish.
      if (!wanted.has(stem) && !(row.element.contains(document.activeElement) && this.#topOf(stem) !== null)) this.#forget(stem);
    }
    let follower = null;
    for (const [stem, place] of [...wanted].reverse()) {
      const { element } = this.#row(stem, place);
      if (!element.isConnected || element.nextElementSibling !== follower) this.rows.insertBefore(element, follower);
      follower = element;
    }
    this.#showDay(top);
    if (this.#layout.height + top < innerHeight + rowsAhead * this.#sizes.row) this.#loadNext();
  }

  #row(stem, { take, number, top, day }) {
    const row = this.#rows.get(stem) ?? this.makeRow(take);
    this.#rows.set(stem, row);
    if (row.top !== top || row.number !== number) {
      Object.assign(row, { top, number });
      row.element.style.setProperty('top', `${top}px`);
      row.element.setAttribute('aria-posinset', number + 1);
    }
    if (row.total !== this.#total) {
      row.total = this.#total;
      // -1 stands for an unknown number of rows.
      row.element.setAttribute('aria-setsize', this.#total);
    }
    this.#head(row, day);
    return row;
  }

  /** The heading of a day above its first row. */
  #head(row, day) {
    if (!day) {
      row.head?.remove();
      row.head = null;
      return;
    }
    if (!row.head) {
      row.head = h('h2', { class: 'takes-day' });
      row.element.prepend(row.head);
    }
    this.#write(row.head, day);
  }

  #showDay(top) {
    const day = top < 0 ? this.#layout.dayAt(-top) : null;
    this.now.hidden = day === null;
    if (day) this.#write(this.now, day);
  }

  #write(element, day) {
    const sum = day.isWhole ? this.sumOf(day) : '';
    const key = `${day.text}\n${sum}`;
    if (element.dataset.key === key) return;
    element.dataset.key = key;
    element.replaceChildren(day.text, sum && h('small', {}, sum));
  }

  #forget(stem) {
    const row = this.#rows.get(stem);
    row?.release();
    row?.element.remove();
    this.#rows.delete(stem);
  }
}
