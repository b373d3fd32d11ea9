// Parts of the page of all takes: the conditions of the list with their sheet, the places of the rows, and a row with the field of its title
// and the finger that moves it.
import { button, choices, field, h, keysSwitch, keysTable, openSheet } from './dom.js';
import { begun, dateText, lengthText, minuteText, momentText, nameText, shortText, signedText, stemText, titleText } from './format.js';
import { thumbnailPixels } from './waveform.js';

// What the list of takes shows: search, order and conditions. Pure.

export const noConditions = {
  q: '', sort: 'newest', when: '', since: '', until: '', hourFrom: '', hourTo: '', longer: '', shorter: '', louder: '', label: '', tag: '',
  kit: '', starred: false, upload: '', place: '',
};

/** The orders of the list. */
const sorts = ['newest', 'oldest', 'longest', 'shortest', 'loudest', 'quietest'];
/** The times in words. With `days` a person names the days. */
const whens = ['today', 'yesterday', 'night', 'week', 'days'];
/** Lengths to choose from, in seconds. */
const lengths = [10, 60, 600, 3600, 21_600];
/** Peaks to choose from, in dBFS. */
export const peaks = [-40, -30, -20, -12, -6, -3, -1];

/** A night is from this hour to that one of the next day. */
const nightFrom = 16;
const nightTo = 10;

/** Whether the list has days. */
export const isByTime = ({ sort }) => sort === 'newest' || sort === 'oldest';

/** The number of conditions, without the search and the order. */
export function countOf(conditions) {
  return Object.keys(noConditions).filter((name) => !['q', 'sort', 'since', 'until', 'hourTo'].includes(name))
    .filter((name) => conditions[name] !== noConditions[name] || (name === 'hourFrom' && conditions.hourTo !== '')).length;
}

/** The conditions as the query string of `/api/takes`. */
export function queryOf(conditions, now = new Date(), zone = Intl.DateTimeFormat().resolvedOptions().timeZone) {
  const { q, sort, hourFrom, hourTo, longer, shorter, louder, label, tag, kit, starred, upload, place } = conditions;
  const query = new URLSearchParams();
  const add = (name, value) => { if (value) query.set(name, value); };
  const [since, until] = timesOf(conditions, now);
  const hasHours = hourFrom !== '' || hourTo !== '';
  add('q', q.trim());
  add('sort', sort !== noConditions.sort && sort);
  add('since', since?.toISOString());
  add('until', until?.toISOString());
  add('hour_from', hasHours && (hourFrom || '0'));
  add('hour_to', hasHours && (hourTo || '24'));
  // Hours, and days that are searched for, are those of the list's days.
  add('zone', (hasHours || q.trim()) && zone);
  add('longer', longer);
  add('shorter', shorter);
  add('louder', louder);
  add('label', label.trim());
  add('tag', tag.trim());
  add('kit', kit);
  add('starred', starred && 'true');
  add('upload', upload);
  add('place', place);
  return query.toString();
}

/** The beginning and the exclusive end of the times that are shown; null where there is none. */
function timesOf({ when, since, until }, now) {
  const today = (days, hour = 0) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  switch (when) {
    case 'today': return [today(0), null];
    case 'yesterday': return [today(-1), today(0)];
    case 'night': return [today(-1, nightFrom), today(0, nightTo)];
    case 'week': return [today(-6), null];
    // A chosen day is included.
    case 'days': return [since ? midnight(since, 0) : null, until ? midnight(until, 1) : null];
    default: return [null, null];
  }
}

/** The beginning of a local day, moved by some days. */
function midnight(text, later) {
  const [year, month, day] = text.split('-').map(Number);
  return new Date(year, month - 1, day + later);
}

// The sheet with the order and the conditions of the list.

/** A person who types is waited for this long, in milliseconds. */
export const typingRest = 250;

/**
 * Opens the sheet.
 * @param {object} options
 * @param {object} options.conditions As of `noConditions`.
 * @param {string[]} options.kits The kits that recorded the takes.
 * @param {(changes: object, rest?: number) => void} options.onChange Changes conditions, after `rest` milliseconds.
 * @param {boolean} options.isUTC
 * @param {(isUTC: boolean) => void} options.onUTC
 * @param {() => void} options.onClose
 * `t`.
 * @returns {{show: (text: string) => void}} `show` writes how many takes match on the button that closes the sheet.
 */
export function openTakesSheet(options) {
  const { t, conditions, kits, onChange, isUTC, onUTC, onClose } = options;
  const typed = (type, name, more = {}) => h('input', {
    type, value: conditions[name], ...more, oninput: ({ target }) => onChange({ [name]: target.value }, type === 'date' ? 0 : typingRest),
  });
  const choice = (name, all) => choices(all, conditions[name], (value) => onChange({ [name]: value }));
  const any = ['', t('takes.any')];
  const words = (name, keys) => keys.map((key) => [key, t(`takes.${name}.${key}`)]);
  const spans = lengths.map((seconds) => [String(seconds), shortText(seconds, t)]);
  const hour = { min: 0, max: 24, step: 1, inputmode: 'numeric' };
  const days = h('div', { class: 'sheet-fields', hidden: conditions.when !== 'days' },
    field(t('takes.since'), typed('date', 'since')), field(t('takes.until'), typed('date', 'until')));
  const when = choices([any, ...words('when', whens)], conditions.when, (value) => {
    days.hidden = value !== 'days';
    onChange({ when: value });
  });
  const tick = (text, isOn, onchange) => {
    const input = h('input', { type: 'checkbox', onchange: () => onchange(input.checked) });
    input.checked = isOn;
    return h('label', { class: 'check' }, input, h('span', {}, text));
  };
  const done = button('', () => close(), { class: 'primary' });
  const close = openSheet(t('takes.filter'), { t, onClose },
    h('div', { class: 'sheet-body' },
      h('div', { class: 'sheet-fields' },
        field(t('takes.sort'), choice('sort', words('sort', sorts))), field(t('takes.when'), when)), days,
      h('div', { class: 'sheet-fields' },
        field(t('takes.hours.from'), typed('number', 'hourFrom', hour)), field(t('takes.hours.to'), typed('number', 'hourTo', hour)),
        field(t('takes.longer'), choice('longer', [any, ...spans])), field(t('takes.shorter'), choice('shorter', [any, ...spans])),
        field(t('takes.louder'), choice('louder', [any, ...peaks.map((peak) => [String(peak), `${signedText(peak)} dBFS`])])),
        field(t('takes.label'), typed('text', 'label')), field(t('takes.tag'), typed('text', 'tag')),
        field(t('takes.upload'), choice('upload', [any, ...words('upload', ['done', 'not-done', 'waiting', 'held', 'none'])])),
        field(t('takes.place'), choice('place', [any, ...words('place', ['here', 'elsewhere'])])),
        // One kit's takes need no choice.
        kits.length > 1 || conditions.kit ? field(t('nav.kit'), choice('kit', [any, ...kits.map((name) => [name, name])])) : null),
      tick(t('takes.starred'), conditions.starred, (starred) => onChange({ starred })),
      tick(t('takes.utc'), isUTC, onUTC),
      h('details', {}, h('summary', {}, t('take.keys')), keysSwitch(t), keysTable([
        ['j k', t('keys.rows')], ['␣', t('keys.space')], ['n', t('play.next')], ['s', t('keys.star')], ['r', t('title.edit')], ['x', t('keys.select')],
        ['Del', t('takes.delete')], ['/', t('takes.search')],
      ]))),
    h('div', { class: 'sheet-foot' },
      button(t('takes.reset'), () => {
        onChange({ ...noConditions, q: conditions.q });
        close();
      }), done));
  return { show: (text) => { done.textContent = t('takes.show', { takes: text }); } };
}

// Where the rows of a list are: pages of rows of one height, and headings of days above some of them. Pure.

/**
 * The runs of days in a page.
 * @param {(take: object) => string} dayOf
 * @returns {{index: number, text: string, seconds: number}[]} `index` is that of the first take, and `seconds` the sum of the lengths.
 */
export function dayRuns(takes, dayOf) {
  const runs = [];
  takes.forEach((take, index) => {
    const text = dayOf(take);
    if (runs.at(-1)?.text !== text) runs.push({ index, text, seconds: 0 });
    runs.at(-1).seconds += take.duration_seconds;
  });
  return runs;
}

/** The runs of a page of `count` takes after one of `seconds` was removed. */
export function withoutTake(runs, removed, count, seconds) {
  const endOf = (place) => runs[place + 1]?.index ?? count;
  return runs.map(({ index, text, seconds: sum }, place) => ({
    index: index > removed ? index - 1 : index, text, seconds: sum - (removed >= index && removed < endOf(place) ? seconds : 0),
    isEmpty: endOf(place) - index === 1 && index === removed,
  })).filter(({ isEmpty }) => !isEmpty).map(({ index, text, seconds: sum }) => ({ index, text, seconds: sum }));
}

/**
 * @typedef {{text: string, count: number, seconds: number, isWhole: boolean}} Day `isWhole` says whether all of its takes are loaded.
 * @typedef {{page: number, index: number, number: number, top: number, day: Day | null}} Place A row, `number` rows after the first one;
 * with the heading of a day above it if it has one.
 */

/** The places of the rows, in pixels from the beginning of the list. */
export class RowLayout {
  #tops = [];
  #numbers = [];
  #heads = [];

  /**
   * @param {{stems: string[], days: {index: number, text: string, seconds: number}[]}[]} pages
   * @param {object} options
   * @param {number} options.row The height of a row.
   * @param {number} options.head The height of a heading.
   * @param {boolean} options.isComplete Whether no take follows.
   */
  constructor(pages, { row, head, isComplete }) {
    Object.assign(this, { pages, row, head });
    let [top, number, day] = [0, 0, null];
    for (const { stems, days } of pages) {
      this.#tops.push(top);
      this.#numbers.push(number);
      const heads = new Map();
      days.forEach(({ index, text, seconds }, place) => {
        const count = (days[place + 1]?.index ?? stems.length) - index;
        if (day?.text === text) {
          day.count += count;
          day.seconds += seconds;
          return;
        }
        if (day) day.isWhole = true;
        day = { text, count, seconds, isWhole: isComplete };
        if (text) heads.set(index, day);
      });
      this.#heads.push(heads);
      top += stems.length * row + heads.size * head;
      number += stems.length;
    }
    this.height = top;
  }

  /** The distance of a row, or of its heading, from the beginning. */
  top(page, index) {
    const before = [...this.#heads[page].keys()].filter((one) => one < index).length;
    return this.#tops[page] + index * this.row + before * this.head;
  }

  /** The rows that touch a range of the list. @returns {Place[]} */
  within(from, to) {
    const places = [];
    for (let page = this.#pageAt(from); page < this.pages.length && this.#tops[page] < to; page++) {
      let top = this.#tops[page];
      this.pages[page].stems.forEach((_, index) => {
        const day = this.#heads[page].get(index) ?? null;
        const end = top + this.row + (day ? this.head : 0);
        if (end > from && top < to) places.push({ page, index, number: this.#numbers[page] + index, top, day });
        top = end;
      });
    }
    return places;
  }

  /** The day of the row at a distance from the beginning; null if the list has no days. @returns {Day | null} */
  dayAt(at) {
    for (let page = this.#pageAt(at); page >= 0; page--) {
      const begun = [...this.#heads[page] ?? []].filter(([index]) => this.top(page, index) <= at);
      if (begun.length) return begun.at(-1)[1];
    }
    return null;
  }

  #pageAt(at) {
    let [low, high] = [0, this.#tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#tops[middle] <= at) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

// Editing the title of a take in place.

/** The most characters that the kit accepts. */
const longest = 200;

/**
 * Puts a text field in the place of an element that shows the title. Enter and leaving it save, Escape does not.
 * @param {HTMLElement} shown The element. It is hidden meanwhile.
 * @param {object} options
 * @param {object} options.take
 * @param {(title: string | null) => Promise<Error | null>} options.save Saves the title, or null for none. Returns the failure, after which the field stays.
 * @param {() => void} options.onEnd Called once the element is shown again, if the field had the focus.
 * @returns {() => Promise<void>} Saves what was typed.
 */
export function editTitle(shown, { t, take, save, onEnd }) {
  /** `open`, `saving` or `closed`. */
  let state = 'open';
  const before = titleText(take);
  const input = h('input', {
    type: 'text', maxlength: longest, value: before, autocomplete: 'off', enterkeyhint: 'done',
    placeholder: stemText(take.take, t), 'aria-label': t('title.field'),
  });
  const form = h('form', { class: 'title-form' }, input);
  const close = () => {
    state = 'closed';
    const hadFocus = document.activeElement === input;
    form.remove();
    shown.hidden = false;
    if (hadFocus) onEnd();
  };
  const finish = async () => {
    if (state !== 'open') return;
    const title = input.value.trim();
    if (title === before) {
      close();
      return;
    }
    state = 'saving';
    input.readOnly = true;
    const failure = await save(title || null);
    state = 'open';
    input.readOnly = false;
    if (!failure) close();
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    finish();
  });
  input.addEventListener('blur', finish);
  input.addEventListener('keydown', (event) => {
    event.stopPropagation();
    if (event.key === 'Escape' && state === 'open') close();
  });
  shown.before(form);
  shown.hidden = true;
  input.focus();
  input.select();
  return finish;
}

// One take in the list.

/** The upload states of a take: the keys of their short texts. The style sheet has their signs. */
const standings = { done: 'takes.safe', waiting: 'takes.waiting', held: 'takes.held', none: 'takes.notsent' };

/**
 * A row of the list. It has few elements, because many are shown.
 * @param {object} take
 * @param {object} options
 * @param {(take: object) => string} options.href The address of the take's page.
 * @param {() => {isUTC: boolean, hasDates: boolean, hasPeaks: boolean, isSelecting: boolean}} options.look How the rows are shown.
 * @param {(stem: string) => 'playing' | 'paused' | 'none'} options.soundOf
 * @param {(stem: string) => boolean} options.isSelected
 * @param {boolean} options.mayChange
 * `t`, `thumbnails`, and `onPlay(take)`, `onStar(take)`, `onSelect(take, isOn, isRange)`, `onRename(take, title)` (a promise of the failure, or null).
 */
export function takeRow(take, options) {
  const { t, thumbnails } = options;
  let current = take;
  const canvas = h('canvas', { class: 'take-wave', width: thumbnailPixels, height: 40, 'aria-hidden': 'true' });
  const title = h('span', { class: 'take-title' });
  const facts = h('span', { class: 'take-facts' });
  const link = h('a', { class: 'take-link', onclick: (event) => {
    if (!options.look().isSelecting) return;
    event.preventDefault();
    options.onSelect(current, !options.isSelected(current.take), event.shiftKey);
  } }, title, canvas, facts);
  const play = h('button', { type: 'button', class: 'take-play', onclick: () => options.onPlay(current) });
  const star = h('button', { type: 'button', class: 'take-star', disabled: !options.mayChange, onclick: () => options.onStar(current) });
  let [check, edit] = [null, null];
  let finishTitle = () => {};
  const rename = () => { if (!link.hidden) finishTitle = editTitle(link, { t, take: current, save: (text) => options.onRename(current, text), onEnd: () => link.focus() }); };
  const element = h('li', { class: 'take-row', 'data-stem': take.take }, play, link, star);

  const showCheck = (isSelecting) => {
    if (isSelecting === (check !== null)) return;
    if (!isSelecting) {
      check.replaceWith(play);
      edit.replaceWith(star);
      check = null;
      return;
    }
    let isRange = false;
    const input = h('input', {
      type: 'checkbox', onclick: (event) => { isRange = event.shiftKey; }, onchange: () => options.onSelect(current, input.checked, isRange),
    });
    check = h('label', { class: 'take-check' }, input);
    play.replaceWith(check);
    edit = button('✎\uFE0E', rename, { class: 'take-star', disabled: !options.mayChange, 'aria-label': t('title.edit'), title: t('title.edit') });
    star.replaceWith(edit);
  };
  const update = (changed) => {
    current = changed;
    const look = options.look();
    const name = nameText(changed, t);
    const sound = options.soundOf(changed.take);
    showCheck(look.isSelecting);
    if (check) {
      check.firstChild.checked = options.isSelected(changed.take);
      check.firstChild.setAttribute('aria-label', t('takes.select', { name }));
    }
    title.textContent = name;
    link.href = options.href(changed);
    facts.replaceChildren(...factsOf(changed, look, t));
    play.textContent = sound === 'playing' ? '❚❚' : '▶\uFE0E';
    play.setAttribute('aria-label', t(sound === 'playing' ? 'play.pause.name' : 'play.play.name', { name }));
    star.textContent = changed.starred ? '★' : '☆';
    star.setAttribute('aria-pressed', String(changed.starred));
    star.setAttribute('aria-label', t('takes.star', { name }));
    element.classList.toggle('is-selected', check?.firstChild.checked ?? false);
    element.classList.toggle('is-current', sound !== 'none');
    thumbnails.observe(canvas, changed);
  };
  update(take);
  return {
    element, canvas, link, update, refresh: () => update(current),
    release() {
      finishTitle();
      thumbnails.release(canvas);
    },
    get take() { return current; },
    rename,
  };
}

/** When a take began, as short as the list allows. */
function timeText(take, { isUTC, hasDates }, t) {
  const date = begun(take);
  const text = isUTC ? dateText(date, true) : hasDates ? momentText(date) : minuteText(date);
  return take.clock === 'unset' && !take.started_corrected ? t('takes.unset', { time: text }) : text;
}

function factsOf(take, look, t) {
  const standing = take.upload ?? 'none';
  const { match } = take;
  const parts = [
    match && ['take-match', `⚑\uFE0E ${lengthText(match.at_frame / take.rate_hz)} ${match.note ?? ''}`],
    take.damaged && ['take-damaged', t('takes.damaged')],
    take.clipped && ['take-clipped', t('takes.clipped')],
    take.place === 'elsewhere' && ['take-away', t('takes.elsewhere')],
    [`take-standing is-${standing}`, t(standings[standing])],
  ].filter(Boolean).map(([name, text]) => h('span', { class: name }, text));
  const peak = look.hasPeaks && typeof take.peak_dbfs === 'number' ? `${signedText(take.peak_dbfs, 1)} dBFS` : '';
  const plain = [peak, timeText(take, look, t), lengthText(take.duration_seconds)].filter(Boolean).join(' · ');
  return [`${plain} `, ...parts.flatMap((part) => [part, ' ']), take.tags.map((tag) => `#${tag}`).join(' ')];
}

// A finger that moves a row aside: pointer events go in, actions come out, and the list carries them out.

/** A finger that moved less than this, in pixels, may still scroll or tap. */
const still = 12;
/** A row that was moved by so much, in pixels, is acted upon when the finger is lifted. */
export const enough = 88;

const none = { kind: 'none' };

/**
 * The state of a finger on a row. Each event returns an action:
 * - `slide`: the row is moved `by` pixels to the right; `isEnough` says whether lifting the finger acts.
 * - `act`: the finger was lifted far enough to the `right` or the `left`.
 * - `back`: the row returns.
 * - `none`.
 */
export class Swipe {
  #state = { kind: 'idle' };

  down({ id, x, y }) {
    if (this.#state.kind === 'idle') this.#state = { kind: 'pressed', id, x, y };
    return none;
  }

  move({ id, x, y }) {
    const state = this.#state;
    if (state.kind === 'idle' || state.id !== id) return none;
    const by = x - state.x;
    if (state.kind === 'pressed') {
      if (Math.max(Math.abs(by), Math.abs(y - state.y)) <= still) return none;
      // A finger that moves up or down scrolls.
      this.#state = Math.abs(by) > Math.abs(y - state.y) ? { ...state, kind: 'sliding' } : { kind: 'idle' };
    }
    return this.#state.kind === 'sliding' ? { kind: 'slide', by, isEnough: Math.abs(by) >= enough } : none;
  }

  up({ id, x }) {
    const state = this.#state;
    if (state.kind === 'idle' || state.id !== id) return none;
    this.#state = { kind: 'idle' };
    if (state.kind === 'pressed') return none;
    const by = x - state.x;
    return Math.abs(by) >= enough ? { kind: 'act', side: by > 0 ? 'right' : 'left' } : { kind: 'back' };
  }

  /** The browser took the finger, because the page is being scrolled. */
  cancel({ id }) {
    const state = this.#state;
    if (state.kind === 'idle' || state.id !== id) return none;
    this.#state = { kind: 'idle' };
    return state.kind === 'sliding' ? { kind: 'back' } : none;
  }
}
