// The page of all takes: search, filters, the list, and actions on the selected ones.
import { archiveURL, counted, deletePath, deleteQuestion, each, mostInArchive, offerUndo, takePath } from './take-actions.js';
import { Thumbnails, takeRow } from './take-row.js';
import { TakesList } from './takes-list.js';
import { button, choices, download, field, h } from './dom.js';
import { numberText } from './takes-format.js';

export { takePage } from './take.js';

const searchRest = 250;
const refreshRest = 1000;

/** The page's state when it was left, to restore it. */
let memory = null;

const noFilters = { text: '', since: '', until: '', tag: '', kit: '', starred: false, upload: '', place: '' };

/**
 * Shows the page of all takes.
 * @param {HTMLElement} root
 * @param {object} context The console's context.
 * @returns {() => void} Ends the page.
 */
export function takesPage(root, context) {
  const page = new TakesPage(root, context);
  return () => page.close();
}

class TakesPage {
  #selected = new Map();
  #anchor = null;
  #timer = 0;
  #isUTC = memory?.isUTC ?? false;
  #filters = { ...noFilters, ...memory?.filters };

  constructor(root, context) {
    this.context = context;
    this.t = context.t;
    this.thumbnails = new Thumbnails();
    this.list = new TakesList({
      get: (path) => context.api.get(path), makeRow: (take) => this.#row(take),
      onState: (state, error) => this.#tell(state, error),
    });
    this.state = h('div', { class: 'takes-state', role: 'status' });
    this.count = h('p', { class: 'takes-count' });
    this.bar = this.#makeBar();
    root.append(h('div', { class: 'takes' },
      h('h1', {}, this.t('takes.title')), this.count, this.#makeSearch(), this.list.element, this.state, this.bar));
    this.#begin();
    this.#listen();
  }

  close() {
    const { scrollY } = window;
    memory = { ...this.list.remember(), filters: this.#filters, isUTC: this.#isUTC, scroll: scrollY };
    clearTimeout(this.#timer);
    clearTimeout(this.refreshing);
    this.list.close();
    this.thumbnails.close();
    this.unlisten();
  }

  get #mayChange() { return this.context.session()?.right === 'all'; }

  #begin() {
    this.#countAll();
    if (memory?.pages.length && memory.query === this.#query()) {
      this.list.restore(memory);
      window.scrollTo(0, memory.scroll);
      this.list.refreshHead().catch((error) => this.context.say(error.message));
    } else {
      window.scrollTo(0, 0);
      this.list.search(this.#query());
    }
  }

  async #countAll() {
    const library = await this.context.api.get('/api/library').catch(() => null);
    if (!library) return;
    // One kit's takes need no choice.
    this.kits.hidden = library.kits.length < 2 && !this.#filters.kit;
    this.kits.querySelector('select').replaceChildren(...['', ...library.kits].map((name) => h('option', { value: name, selected: name === this.#filters.kit }, name || this.t('takes.any'))));
    this.count.textContent = counted(this.t, 'takes.count', library.takes).replace(library.takes, numberText(library.takes));
  }

  #listen() {
    const colours = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => this.list.forEachRow((row) => this.thumbnails.redraw([row.canvas]));
    colours.addEventListener('change', redraw);
    const themes = new MutationObserver(redraw);
    themes.observe(document.documentElement, { attributes: true });
    const { events } = this.context;
    const unsubscribe = [
      events.on('catalog', (event) => this.#changed(event)),
      events.on('connection', ({ isConnected }) => this.#connected(isConnected)),
    ];
    this.unlisten = () => {
      colours.removeEventListener('change', redraw);
      themes.disconnect();
      for (const end of unsubscribe) end();
    };
  }

  /** After a lost connection, requests the changes made meanwhile. */
  #connected(isConnected) {
    if (isConnected && this.wasAway) {
      this.list.refresh().catch((error) => this.context.say(error.message));
      this.#countAll();
    }
    this.wasAway = !isConnected;
  }

  async #changed({ what, take: stem }) {
    try {
      if (what === 'removed') {
        this.list.remove(stem);
        this.#select([stem], false);
        this.#countAll();
      } else if (what === 'added') {
        await this.list.refreshHead();
        // A kit whose clock was not set yet records takes with earlier dates than existing ones.
        if (!this.list.find(stem)) this.#refreshSoon();
        this.#countAll();
      } else if (what === 'many') {
        this.#refreshSoon();
      } else {
        if (this.list.find(stem)) this.list.update((await this.context.api.get(takePath(stem))).take);
        // The take may match the search now, or may not match it any more.
        if (this.#query()) this.#refreshSoon();
      }
    } catch (error) {
      this.context.say(error.message);
    }
  }

  /** Requests the list again, once for all changes made meanwhile. */
  #refreshSoon() {
    this.refreshing ??= setTimeout(() => {
      this.refreshing = null;
      this.list.refresh().catch((error) => this.context.say(error.message));
      this.#countAll();
    }, refreshRest);
  }

  #query() { return queryOf(this.#filters); }

  #filter(changes, rest = 0) {
    Object.assign(this.#filters, changes);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.list.search(this.#query()), rest);
  }

  #makeSearch() {
    const { t } = this;
    const filters = this.#filters;
    const input = (type, name, rest = 0) => h('input', {
      type, value: filters[name], oninput: (event) => this.#filter({ [name]: event.target.value }, rest),
    });
    const choice = (name, keys) => choices([['', t('takes.any')], ...keys.map((key) => [key, t(`takes.${name}.${key}`)])],
      filters[name], (value) => this.#filter({ [name]: value }));
    const starred = h('input', { type: 'checkbox', onchange: () => this.#filter({ starred: starred.checked }) });
    starred.checked = filters.starred;
    const isFiltered = Object.keys(noFilters).some((name) => name !== 'text' && filters[name] !== noFilters[name]);
    return h('search', { class: 'takes-search' },
      field(t('takes.search'), input('search', 'text', searchRest), 'field takes-text'),
      h('details', { open: isFiltered },
        h('summary', {}, t('takes.filters')),
        h('div', { class: 'takes-filters' },
          field(t('takes.since'), input('date', 'since')), field(t('takes.until'), input('date', 'until')),
          field(t('takes.tag'), input('text', 'tag', searchRest)),
          field(t('takes.upload'), choice('upload', ['done', 'not-done', 'waiting', 'held', 'none'])),
          this.kits = field(t('takes.kit'), choices([], '', (value) => this.#filter({ kit: value }))),
          field(t('takes.place'), choice('place', ['here', 'elsewhere'])),
          h('label', { class: 'takes-starred' }, starred, t('takes.starred')))));
  }

  #row(take) {
    return takeRow(take, {
      t: this.t, thumbnails: this.thumbnails, href: (stem) => `#/takes/${encodeURIComponent(stem)}`,
      isUTC: () => this.#isUTC, isSelected: (stem) => this.#selected.has(stem), mayChange: this.#mayChange,
      onSelect: (one, isOn, isRange) => this.#pick(one.take, isOn, isRange),
      onStar: (one) => this.#star(one),
      onTime: () => {
        this.#isUTC = !this.#isUTC;
        this.list.forEachRow((row) => row.refresh());
      },
    });
  }

  /** Selects one take, or with the shift key all from the last one on. */
  #pick(stem, isOn, isRange) {
    const { stems } = this.list;
    const [from, to] = [stems.indexOf(this.#anchor), stems.indexOf(stem)].sort((a, b) => a - b);
    this.#select(isRange && from >= 0 ? stems.slice(from, to + 1) : [stem], isOn);
    this.#anchor = stem;
  }

  #select(stems, isOn) {
    for (const stem of stems) {
      if (isOn) this.#selected.set(stem, this.list.find(stem) ?? null);
      else this.#selected.delete(stem);
    }
    this.#showSelection();
  }

  #showSelection() {
    const { size } = this.#selected;
    this.bar.hidden = size === 0;
    this.selection.textContent = counted(this.t, 'takes.selected', size);
    this.list.forEachRow((row) => row.refresh());
  }

  #makeBar() {
    const { t } = this;
    this.selection = h('p', { role: 'status' });
    const change = { disabled: !this.#mayChange };
    return h('div', { class: 'takes-bar', role: 'group', 'aria-label': t('takes.actions'), hidden: true },
      this.selection,
      button(t('takes.download'), () => this.#download()),
      button(t('takes.send'), () => this.#send(), change),
      button(t('takes.delete'), () => this.#delete(), { class: 'danger', ...change }),
      button(t('takes.clear'), () => this.#select([...this.#selected.keys()], false)));
  }

  /** Passes the selected takes to `body`. Takes that are not in memory are requested. */
  async #withTakes(body) {
    let takes;
    try {
      takes = await Promise.all([...this.#selected].map(async ([stem, take]) =>
        take ?? (await this.context.api.get(takePath(stem))).take));
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
    }, () => offerUndo(context, deleted, () => this.#refreshSoon()));
    this.#countAll();
  }

  /** Runs an action for each take, reports how many succeeded, and keeps the failed ones selected. */
  async #do(takes, key, body, say = null) {
    const { done, errors } = await each(takes, body);
    this.#select(done.map((take) => take.take), false);
    const sentence = counted(this.t, key, done.length);
    if (errors.length) this.context.fail(new Error(`${sentence} ${errors[0].message}`));
    else if (say) say();
    else this.context.say(sentence);
  }

  async #star(take) {
    try {
      const { take: changed } = await this.context.api.patch(takePath(take.take), { starred: !take.starred });
      this.list.update(changed);
    } catch (error) {
      this.context.fail(error);
    }
  }

  #tell(state, error) {
    const { t } = this;
    this.list.element.setAttribute('aria-busy', String(state === 'busy'));
    const contents = {
      busy: [t('takes.loading')], ready: [], empty: [t('takes.none')],
      failed: [error?.message ?? '', button(t('takes.retry'), () => this.list.retry())],
    };
    this.state.replaceChildren(...contents[state]);
  }
}

/** The conditions of a search as the query string of `/api/takes`. */
export function queryOf({ text, since, until, tag, kit, starred, upload, place }) {
  const query = new URLSearchParams();
  const add = (name, value) => { if (value) query.set(name, value); };
  add('text', text.trim());
  add('since', since && midnight(since, 0));
  // The chosen day is included in the range, but the API's `until` is exclusive.
  add('until', until && midnight(until, 1));
  add('tag', tag.trim());
  add('kit', kit);
  add('starred', starred && 'true');
  add('upload', upload);
  add('place', place);
  return query.toString();
}

/** The beginning of a local day, moved by some days, in ISO 8601. */
function midnight(text, later) {
  const [year, month, day] = text.split('-').map(Number);
  return new Date(year, month - 1, day + later).toISOString();
}
