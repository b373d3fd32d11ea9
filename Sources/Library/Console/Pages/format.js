// Values in words: times, lengths, sizes, takes, and faults.
import { button, h, setText } from './dom.js';
import { counted, locale } from './texts.js';

// Times, lengths and sizes as text, in the page's language and the browser's time zone.

const language = locale();
const formats = new Map();

function numberFormat(least, most) {
  const name = `${least}-${most}`;
  if (!formats.has(name)) formats.set(name, new Intl.NumberFormat(language, { minimumFractionDigits: least, maximumFractionDigits: most }));
  return formats.get(name);
}

function dateFormat(name, options) {
  if (!formats.has(name)) formats.set(name, new Intl.DateTimeFormat(language, options));
  return formats.get(name);
}

const day = { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' };
const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' };

/** The start of a take, by the most accurate known clock. */
export const begun = (take) => new Date(take.started_corrected ?? take.started);

/** The day, local to the browser or in UTC. */
export function dayText(date, isUTC) {
  return isUTC ? dateFormat('utc-day', { ...day, timeZone: 'UTC' }).format(date) : dateFormat('day', day).format(date);
}

/** The day in few letters, local to the browser or in UTC. */
export function shortDayText(date, isUTC) {
  return dateFormat(`short-day-${isUTC}`, { dateStyle: 'medium', ...(isUTC && { timeZone: 'UTC' }) }).format(date);
}

/** The time of day, local to the browser or in UTC. */
export function clockText(date, isUTC) {
  return isUTC ? `${dateFormat('utc', { ...clock, timeZone: 'UTC' }).format(date)} UTC` : dateFormat('clock', clock).format(date);
}

export function dateText(date, isUTC) {
  const options = { dateStyle: 'medium', timeStyle: 'medium' };
  return isUTC ? `${dateFormat('utc-date', { ...options, timeZone: 'UTC' }).format(date)} UTC` : dateFormat('date', options).format(date);
}

const point = new Intl.NumberFormat(language).formatToParts(0.5).find(({ type }) => type === 'decimal').value;

/** Seconds as `1:02:03`, optionally with decimals. */
export function lengthText(seconds, decimals = 0) {
  const scale = 10 ** decimals;
  const whole = Math.floor(Math.max(0, seconds) * scale + 1e-6);
  const total = Math.floor(whole / scale);
  const two = (number) => String(number).padStart(2, '0');
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  const front = hours ? `${hours}:${two(minutes)}` : `${minutes}`;
  const back = decimals ? `${point}${String(whole % scale).padStart(decimals, '0')}` : '';
  return `${front}:${two(total % 60)}${back}`;
}

/** The seconds of a text such as `1:02.5`, `1:02,5` or `1:02:03`, or null if it is malformed. */
export function readLength(text) {
  const match = /^(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)$/.exec(text.replace(',', '.'));
  return match && Number(match[1] ?? 0) * 3600 + Number(match[2]) * 60 + Number(match[3]);
}

/** A number in the page's language, with at most this many decimals. */
export function numberText(number, decimals = 0) { return numberFormat(0, decimals).format(number); }

/** A number in the page's language, with this many decimals. */
export function fixedText(number, decimals) { return numberFormat(decimals, decimals).format(number); }

/** A number with a true minus. */
export function signedText(number, decimals = 0) { return numberText(number, decimals).replace('-', '−'); }

/** Bytes with a unit based on 1000. */
export function sizeText(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${numberText(bytes / 1000 ** power, power > 1 ? 1 : 0)} ${units[power]}`;
}

/** The time of day without seconds. */
export function minuteText(date) { return dateFormat('minute', { hour: '2-digit', minute: '2-digit' }).format(date); }

/** A day as a heading, without the year if it is this one. */
export function headingText(date, now = new Date()) { return withYear('heading', { weekday: 'short', month: 'long', day: 'numeric' }, date, now); }

/** A day and a time in few letters, without the year if it is this one. */
export function momentText(date, now = new Date()) {
  return withYear('moment', { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }, date, now);
}

function withYear(name, options, date, now) {
  const isNow = date.getFullYear() === now.getFullYear();
  return dateFormat(`${name}-${isNow}`, isNow ? options : { ...options, year: 'numeric' }).format(date);
}

/** A month with its year. */
export function monthText(date) { return dateFormat('month', { month: 'short', year: 'numeric' }).format(date); }

/** A day of the week, `long` or `short`. */
export function weekdayText(date, weekday) { return dateFormat(`weekday-${weekday}`, { weekday }).format(date); }

/** The first day of a week in the browser's region, from 1 for Monday to 7; Monday if the browser does not know it. */
export function firstWeekday() {
  const locale = new Intl.Locale(language);
  return (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? 1;
}

// The deck's texts about time, space, age and takes. Pure.

/** A span in words, in its two largest units: `6 days 4 h`, `4 h 10 min`, `12 min`. */
export function spanText(seconds, t) {
  const minutes = Math.floor(Math.max(0, seconds) / 60);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (!minutes) return t('span.least');
  const text = (key, n) => (n ? t(key, { n }) : '');
  const units = days ? [counted(t, 'span.days', days), text('span.hours', hours)] : [text('span.hours', hours), text('span.minutes', minutes % 60)];
  return units.filter(Boolean).join(' ');
}

/** A span in words, with seconds below a minute. */
export function shortText(seconds, t) { return seconds < 60 ? t('span.seconds', { n: numberText(seconds, 1) }) : spanText(seconds, t); }

/** The time that can still be recorded, or the free space if it is not known; empty if nothing is known. */
export function leftText({ time_left_seconds: seconds = null, free_bytes: bytes = null }, t) {
  if (seconds !== null) return t('deck.left', { time: spanText(seconds, t) });
  return bytes === null ? '' : t('deck.free', { size: sizeText(bytes) });
}

/** The time and the space that are left. */
export function roomText(status, t) {
  const left = leftText(status, t);
  return (status.time_left_seconds ?? null) === null ? left || '–' : t('deck.left.value', { left, size: sizeText(status.free_bytes ?? 0) });
}

/** A level event comes ten times a second. After this silence, in milliseconds, the shown values count as old. */
const staleAfter = 3000;

/** How old the shown values are: `12 s ago`; empty while they are current. Without a connection they are never current. */
export function ageText(milliseconds, isReachable, t) {
  if (isReachable && milliseconds < staleAfter) return '';
  const seconds = Math.floor(milliseconds / 1000);
  const [key, n] = seconds < 60 ? ['span.seconds', seconds]
    : seconds < 3600 ? ['span.minutes', Math.floor(seconds / 60)] : ['span.hours', Math.floor(seconds / 3600)];
  return t('deck.age', { time: t(key, { n }) });
}

/** How much of a take is on the disk. */
export function diskText({ elapsed_seconds: elapsed, synced_seconds: synced }, isSafe, t) {
  return isSafe ? t('deck.ondisk', { time: lengthText(synced, 1) }) : t('deck.unsafe', { seconds: Math.round(elapsed - synced) });
}

/** The number of a take from its stem, `heron07-0042_20261121_061811` or `heron07-0042-061811Z`; null for any other text. */
export function numberOf(stem) {
  const match = /-(\d+)(?:_(?:\d{8}_\d{6}|unset)|-\d{6}Z)$/.exec(stem ?? '');
  return match && Number(match[1]);
}

/** The name of a take by its stem alone. */
export function stemText(stem, t) {
  const number = numberOf(stem);
  return number === null ? stem : t('deck.take.number', { n: number });
}

/** The title that a person gave a take: its own, or in older takes the first line of the memo; empty without one. */
export function titleText({ title, memo }) { return title?.trim() || memo?.split('\n', 1)[0].trim() || ''; }

/** The name of a take: its title, else its number. */
export function nameText(take, t) { return titleText(take) || stemText(take.take, t); }

/** The kit's newest measurement as text, `3.90 V · 48 °C`; empty if it has none of the last half hour before `now`. */
export function measuredText(history, now) {
  const latest = history.findLast(({ event }) => event === 'measure');
  if (!latest || Math.abs(now - Date.parse(latest.at)) > 30 * 60_000) return '';
  const degrees = Object.values(latest.temperatures ?? {});
  return [
    latest.supply_volts === undefined ? '' : `${numberText(latest.supply_volts, 2)} V`,
    degrees.length ? `${numberText(Math.max(...degrees))} °C` : '',
  ].filter(Boolean).join(' · ');
}

const sum = (stores, key) => stores.reduce((total, store) => total + store[key], 0);

/** What is still to be uploaded, in few words; empty without a store. */
export function uploadText({ stores, paused }, t) {
  if (!stores.length) return '';
  const [waiting, held] = [sum(stores, 'waiting'), sum(stores, 'held')];
  if (waiting) return paused ? t('upload.paused', { n: waiting }) : counted(t, 'upload', waiting);
  return held ? t('queue.held', { n: held }) : t('queue.done');
}

/** The state of the upload queue. */
export function queueText(outbox, t) {
  if (!outbox.stores.length) return t('queue.none');
  const parts = [];
  if (outbox.paused) parts.push(t('queue.paused'));
  const sending = outbox.takes.find(({ state }) => state === 'sending');
  if (sending) parts.push(t('queue.sending', { take: sending.take, percent: Math.floor(100 * sending.sent_bytes / Math.max(1, sending.bytes)) }));
  const [waiting, held] = [sum(outbox.stores, 'waiting'), sum(outbox.stores, 'held')];
  if (waiting) parts.push(t('queue.waiting', { n: waiting, size: sizeText(sum(outbox.stores, 'waiting_bytes')) }));
  if (held) parts.push(t('queue.held', { n: held }));
  if (!waiting && !held && !sending) parts.push(t('queue.done'));
  const why = outbox.stores.find((store) => store.why)?.why;
  if (why) parts.push(why);
  return parts.join('; ');
}

// Faults and other things that need a person: each is one line with one action, and the kit's sentence behind "more".

/** The kinds of a fault of the signal, by the kit's sentence. */
const signals = [
  ['clipped', 'clipped on channel', 'gain'], ['silent', 'no signal on channel', 'kit'], ['fell', 'the signal fell by', 'kit'],
  ['rate', ' Hz and runs at ', 'kit'],
];

/**
 * What a fault says in one line, and the action that helps: keys of texts.
 * @returns {{text: string, action: string}} The action is `clock`, `retry`, or a page: `takes`, `kit`, `settings` or `gain`.
 */
export function faultLine({ code, message }) {
  switch (code) {
    case 2: return { text: !message || /\bnearly full\b/.test(message) ? 'fault.2' : 'fault.2.full', action: 'takes' };
    case 3: return { text: 'fault.3', action: 'clock' };
    case 4: return /\bdamaged\b/.test(message) ? { text: 'fault.4.damaged', action: 'takes' } : { text: 'fault.4', action: 'kit' };
    case 5: return { text: 'fault.5', action: 'settings' };
    case 6: return { text: 'fault.6', action: 'retry' };
    case 7: return { text: 'fault.7', action: 'settings' };
    case 8: {
      const [kind, , action] = signals.find(([, part]) => message.includes(part)) ?? ['', '', 'kit'];
      return { text: kind ? `fault.8.${kind}` : 'fault.8', action };
    }
    default: return { text: code === 1 ? 'fault.1' : 'fault.other', action: 'kit' };
  }
}

/** The largest difference between the clocks of kit and phone that is not mentioned, in seconds. */
const mostDifference = 2;

/**
 * The lines to show: faults, then a clock that differs from the phone's, then an unknown stick. Faults that read the same are one line.
 * @returns {{key: string, text: string, values: object, action: string, help: string, more: string}[]} `text` and `help` are keys of texts,
 * `more` has the kit's sentences, and `key` identifies a line while its other parts change.
 */
export function linesOf(status, { clockDifference, hasUnknownStick }) {
  const lines = new Map();
  for (const fault of status.faults) {
    const { text, action } = faultLine(fault);
    const more = [lines.get(text)?.more, fault.message].filter(Boolean).join('\n');
    lines.set(text, { key: text, text, values: {}, action, help: `help.${fault.code}`, more });
  }
  const seconds = Math.abs(Math.round((clockDifference ?? 0) / 1000));
  // An unset clock is a fault of its own.
  if (status.clock !== 'unset' && seconds > mostDifference) {
    lines.set('clock', { key: 'clock', text: 'clock.differs', values: { seconds }, action: 'clock', help: 'clock.differs.help', more: '' });
  }
  if (hasUnknownStick) lines.set('stick', { key: 'stick', text: 'stick.offer', values: {}, action: 'stick', help: 'stick.help', more: '' });
  return [...lines.values()];
}

/** Actions that lead to a page. */
const pages = { takes: '#/takes', kit: '#/kit/hardware', settings: '#/kit', gain: '#/kit' };

/** The list of lines. A line that stays keeps its element, so that an opened "more" stays open. */
export class FaultLines {
  #items = new Map();

  /** @param run Carries out an action that is not a page. It throws an error with a sentence if that fails. */
  constructor({ t, mayAct, run }) {
    Object.assign(this, { t, mayAct, run });
    this.element = h('section', { class: 'faults', 'aria-label': t('deck.faults'), 'aria-live': 'polite', hidden: true });
  }

  show(lines) {
    for (const [key, item] of this.#items) {
      if (lines.some((line) => line.key === key)) continue;
      // The focus would be lost with its button.
      if (item.element.contains(document.activeElement)) document.getElementById('main').focus();
      item.element.remove();
      this.#items.delete(key);
    }
    for (const line of lines) {
      if (!this.#items.has(line.key)) this.#items.set(line.key, this.#item(line));
      const item = this.#items.get(line.key);
      const { seconds } = line.values;
      setText(item.text, this.t(line.text, seconds === undefined ? line.values : { time: seconds < 120 ? this.t('span.seconds', { n: seconds }) : spanText(seconds, this.t) }));
      setText(item.more, line.more);
      setText(item.help, this.t(line.help));
      item.more.hidden = !line.more;
    }
    const wanted = lines.map(({ key }) => this.#items.get(key).element);
    if (wanted.some((element, index) => this.element.children[index] !== element)) this.element.replaceChildren(...wanted);
    this.element.hidden = !lines.length;
  }

  #item({ action }) {
    const { t } = this;
    const [text, more, help] = [h('span', { class: 'fault-text' }), h('p', {}), h('p', {})];
    const problem = h('p', { class: 'is-error fault-problem', role: 'alert' });
    const summary = h('summary', {}, text, ' ', h('span', { class: 'fault-more' }, t('fault.more')));
    let control = null;
    if (action in pages) control = h('a', { class: 'button', href: pages[action] }, t(`act.${action}`));
    else if (this.mayAct) {
      control = button(t(`act.${action}`), async () => {
        problem.textContent = '';
        control.setAttribute('aria-busy', 'true');
        await this.run(action).catch((error) => { problem.textContent = error.message; });
        control.removeAttribute('aria-busy');
      });
    }
    return { element: h('div', { class: 'fault' }, h('details', {}, summary, help, more), control, problem), text, more, help };
  }
}
