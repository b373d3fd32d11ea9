// Pages below the kit's: its history, the phones, its label, its log, and updates.
import { attempt, button, downloadContent, facts, field, h, section, svg, trouble } from './dom.js';
import { dateText, numberText, shortDayText, shortText, spanText } from './format.js';
import { locale } from './texts.js';

// The axes of the kit's charts: round values, and times of the day or days. Pure.

const hour = 3_600_000;
const day = 24 * hour;

/**
 * Round values around a range, for an axis of values.
 * @returns {{ticks: number[], least: number, most: number, digits: number}} The range with round ends, and the decimals that a value needs.
 */
export function valueTicks(least, most, count = 3) {
  const span = most - least || Math.abs(most) * 0.1 || 1;
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= count);
  const [from, until] = [Math.floor(least / step + 1e-9), Math.ceil(most / step - 1e-9)];
  const last = Math.max(until, from + 1);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return {
    ticks: Array.from({ length: last - from + 1 }, (_, index) => Number(((from + index) * step).toFixed(digits))),
    least: from * step, most: last * step, digits,
  };
}

/** The steps of an axis of times, in hours. */
const steps = [1, 2, 3, 6, 12, 24, 48, 72, 168, 336, 720, 1440, 2880];

/**
 * Local times on an axis, each with a text: hours of the day, or days.
 * @param {number} from @param {number} until In milliseconds.
 */
export function timeTicks(from, until, count = 6) {
  const step = steps.find((hours) => (until - from) / hour / hours <= count) ?? steps.at(-1);
  const first = new Date(from);
  const shown = step < 24 ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } : { day: 'numeric', month: 'short' };
  const format = new Intl.DateTimeFormat(locale(), shown);
  const ticks = [];
  // By the calendar, since a day of a clock change does not have 24 hours.
  for (let index = 0; ticks.length < 100; index++) {
    const at = +new Date(first.getFullYear(), first.getMonth(), first.getDate(), index * step);
    if (at > until) break;
    if (at >= from) ticks.push({ at, text: format.format(at) });
  }
  return ticks;
}

/**
 * A line through points, interrupted where the kit did not measure.
 * @param {[number, number][]} points Times and values.
 * @param {number} pause Points that are further apart are not joined, in milliseconds.
 */
export function linePath(points, { from, until, least, most }, [width, height], pause) {
  const x = (time) => (((time - from) / (until - from)) * width).toFixed(1);
  const y = (value) => (height - ((value - least) / (most - least)) * height).toFixed(1);
  const isNear = (one, other) => one !== undefined && other !== undefined && other[0] - one[0] <= pause;
  return points.map((point, index) => {
    const isJoined = isNear(points[index - 1], point);
    // A point alone is a dot.
    const dot = isJoined || isNear(point, points[index + 1]) ? '' : 'h1';
    return `${isJoined ? 'L' : 'M'}${x(point[0])} ${y(point[1])}${dot}`;
  }).join('');
}

/** A day in UTC, such as the last one on which a phone was seen, in words. */
export function seenText(seen, now, t) {
  if (!seen) return t('phones.never');
  const days = Math.round((Date.parse(now.toISOString().slice(0, 10)) - Date.parse(seen)) / day);
  if (days === 0) return t('phones.today');
  if (days === 1) return t('phones.yesterday');
  return t('phones.seen', { date: shortDayText(new Date(seen), true) });
}

/** The spans to choose from, in hours; null is everything. */
const spans = [['day', 24], ['week', 168], ['all', null]];
const [width, height] = [1000, 100];
/** The key of the title, the unit, and the value of a point. */
const series = [
  ['temperature', '°C', ({ celsius }) => celsius],
  ['voltage', 'V', ({ supply_volts: volts }) => volts],
  ['free', 'GB', ({ free_bytes: bytes }) => (bytes === undefined ? undefined : bytes / 1e9)],
];
/** The recorder measures every ten minutes. */
const longestPause = 30 * 60_000;

export function historyPart({ api, t }) {
  const problem = trouble();
  const place = h('div', {});
  let shown = 'day';
  let asked = 0;
  const load = () => attempt(problem, async () => {
    const number = ++asked;
    const hours = spans.find(([name]) => name === shown)[1];
    const found = await api.get(`/api/history/summary${hours ? `?hours=${hours}` : ''}`);
    // Somebody has chosen another span meanwhile.
    if (number === asked) place.replaceChildren(...summary(found, t));
  });
  const buttons = spans.map(([name]) => button(t(`history.${name}`), () => {
    shown = name;
    press();
    load();
  }, { 'data-span': name }));
  const press = () => { for (const one of buttons) one.setAttribute('aria-pressed', String(one.dataset.span === shown)); };
  press();
  load();
  return [h('div', { class: 'row', role: 'group', 'aria-label': t('history.span') }, ...buttons), problem, place];
}

/** How many times have room below a chart, by the width of the page in letters. */
function roomForTimes() {
  const letters = document.getElementById('main').clientWidth / parseFloat(getComputedStyle(document.documentElement).fontSize);
  return Math.min(8, Math.max(2, Math.floor((letters - 7) / 3.4)));
}

function summary(found, t) {
  const [from, until] = [Date.parse(found.from), Date.parse(found.until)];
  const window = { from, until, times: timeTicks(from, until, roomForTimes()) };
  const charts = series.map(([name, unit, value]) => {
    const points = found.measured.map((point) => [Date.parse(point.at), value(point)]).filter(([, y]) => y !== undefined);
    return points.length > 1 ? chart(t(`history.${name}`), unit, points, window, found.step_seconds, t) : null;
  });
  const faults = found.faults.map((fault) => faultItem(fault, t));
  const events = found.events.map((record) => eventItem(record, t));
  const list = (items) => (items.length ? h('ol', { class: 'plain log' }, ...items) : h('p', { class: 'dim' }, t('history.nothing')));
  return [
    section(t('history.recording'), band(found, window, t), ...charts.filter(Boolean)),
    section(t('history.faults'), list(faults)),
    section(t('history.events'), list(events), found.left_out ? h('p', { class: 'dim' }, t('history.older', { n: found.left_out })) : null),
  ];
}

/** When the kit recorded and ran, and where faults began. */
function band(found, { from, until, times }, t) {
  const x = (text) => ((Date.parse(text) - from) / (until - from)) * width;
  const bars = (intervals, name) => intervals.map((one) => {
    const [left, right] = [x(one.from), x(one.until)];
    return svg('rect', { x: left.toFixed(1), width: Math.max(1, right - left).toFixed(1), y: 0, height: 10, class: name });
  });
  const marks = found.faults.filter(({ at }) => Date.parse(at) >= from)
    .map(({ at }) => svg('path', { d: `M${x(at).toFixed(1)} 0V10`, class: 'fault-mark' }));
  const [time, whole, on] = [found.recorded_seconds, (until - from) / 1000, found.running_seconds].map((seconds) => spanText(seconds, t));
  const text = t('history.recorded', { time, whole, on });
  const picture = svg('svg', { viewBox: `0 0 ${width} 10`, role: 'img', 'aria-label': text, preserveAspectRatio: 'none', class: 'band' },
    ...bars(found.running, 'is-on'), ...bars(found.recorded, 'is-recorded'), ...marks);
  const key = (name) => h('li', { class: `key-${name}` }, t(`history.key.${name}`));
  return h('figure', { class: 'history' }, h('figcaption', {}, text), plot([], picture, { from, until, times }),
    h('ul', { class: 'plain history-key' }, key('recorded'), key('on'), ...(marks.length ? [key('fault')] : [])));
}

/** A line over time with its axes. */
function chart(name, unit, points, { from, until, times }, step, t) {
  const values = points.map(([, value]) => value);
  const axis = valueTicks(Math.min(...values), Math.max(...values));
  const digits = unit === 'V' ? Math.max(2, axis.digits) : 1;
  const number = (value) => numberText(value, digits);
  const [least, most, now] = [Math.min(...values), Math.max(...values), values.at(-1)].map(number);
  const text = t('history.range', { name, least, most, now, unit });
  const up = (value) => (1 - (value - axis.least) / (axis.most - axis.least)) * height;
  const across = (time) => ((time - from) / (until - from)) * width;
  const line = linePath(points, { from, until, least: axis.least, most: axis.most }, [width, height], Math.max(longestPause, 2500 * step));
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': text, preserveAspectRatio: 'none' },
    ...times.map(({ at }) => svg('path', { d: `M${across(at).toFixed(1)} 0V${height}`, class: 'grid' })),
    ...axis.ticks.map((value) => svg('path', { d: `M0 ${up(value).toFixed(1)}H${width}`, class: 'grid' })),
    svg('path', { d: line, class: 'line' }));
  // The highest value has the unit.
  const labels = axis.ticks.map((value) => label(numberText(value, axis.digits) + (value < axis.ticks.at(-1) ? '' : ` ${unit}`), 'top', `${up(value).toFixed(1)}%`));
  return h('figure', { class: 'history' }, h('figcaption', {}, text), plot(labels, picture, { from, until, times }));
}

/** A picture with the values at its left, and the times below it. */
function plot(values, picture, { from, until, times }) {
  const labels = times.map(({ at, text }) => label(text, 'left', labelPlace(text, (100 * (at - from)) / (until - from))));
  return h('div', { class: 'plot' },
    h('div', { class: 'plot-values', 'aria-hidden': 'true' }, ...values), picture, h('div', { class: 'plot-times', 'aria-hidden': 'true' }, ...labels));
}

/** The place of a label's middle, at which no part of it is beyond the picture, whatever the size of the text. */
export function labelPlace(text, percent) {
  const half = [...text].reduce((sum, letter) => sum + (letter > '\u1100' ? 0.5 : 0.32), 0).toFixed(2);
  return `clamp(${half}em, ${percent.toFixed(1)}%, 100% - ${half}em)`;
}

function label(text, side, place) {
  const element = h('span', {}, text);
  element.style[side] = place;
  return element;
}

function faultItem({ at, until, code, message }, t) {
  const date = dateText(new Date(at));
  const time = until && shortText((Date.parse(until) - Date.parse(at)) / 1000, t);
  const when = until ? t('history.for', { date, time }) : t('history.still', { date });
  return h('li', { class: 'is-warning' }, h('span', { class: 'dim' }, when), h('br'), t('history.fault', { n: code, message }));
}

function eventItem(record, t) {
  const kind = ['power-cut', 'crash', 'watchdog'].includes(record.before) ? 'is-warning' : '';
  return h('li', { class: kind }, h('span', { class: 'dim' }, dateText(new Date(record.at))), h('br'), sentence(record, t));
}

function sentence(record, t) {
  switch (record.event) {
    case 'start': return `${t('history.start')} ${record.version}: ${t(`history.before.${record.before}`)}`;
    case 'end': return t(`history.end.${record.by}`);
    case 'clock': return `${t('kit.clock')}: ${t(`clock.${record.origin}`)}`;
    case 'card': return `${t('deck.card')}: ${record.card}${record.port ? ` (USB ${record.port})` : ''}, ${record.format}`;
    case 'phone': return t(`history.${record.what}`, {
      phone: record.phone ?? '', by: record.by ?? t('history.nobody'), keys: (record.keys ?? []).join(', ') });
    default: return t('history.left', { n: record.count });
  }
}

// The paired phones: their names, when each was seen, and their removal. A phone renames itself only.

export function phonesPart(context) {
  const { api, t, ask } = context;
  const list = h('ul', { class: 'plain kit-list' });
  const problem = trouble();
  const own = () => context.session().phone?.id;

  const show = async () => {
    const { phones } = await api.get('/api/phones');
    const now = new Date(api.lastDate ?? Date.now());
    // This phone first, then the one that was here last.
    const order = (phone) => (phone.id === own() ? '~' : phone.seen ?? '');
    phones.sort((a, b) => (order(a) < order(b) ? 1 : -1));
    list.replaceChildren(...(phones.length ? phones.map((phone) => item(phone, now)) : [h('li', {}, t('phones.none'))]));
  };
  const load = () => attempt(problem, show);

  const remove = async (phone) => {
    const isOwn = phone.id === own();
    const name = t('kit.remove', { name: phone.name });
    if (!await ask(t(isOwn ? 'phones.remove.own' : 'kit.remove.ask', { name: phone.name }), { confirm: name, danger: true })) return;
    await attempt(problem, async () => {
      await api.delete(`/api/phones/${phone.id}`);
      await (isOwn ? context.refresh() : show());
    });
  };

  const item = (phone, now) => {
    const isOwn = phone.id === own();
    const days = [isOwn ? '' : seenText(phone.seen, now, t), t('kit.since', { date: shortDayText(new Date(phone.since), false) })];
    const element = h('li', { class: 'phone' }, h('p', {}, h('strong', {}, phone.name), isOwn ? ` (${t('kit.this')})` : ''),
      h('p', { class: 'dim' }, days.filter(Boolean).join(' · ')),
      h('div', { class: 'row' }, isOwn ? button(t('phones.rename'), () => rename(element, phone)) : null,
        button(t(isOwn ? 'phones.unpair' : 'phones.remove'), () => remove(phone), {
          class: 'danger', 'aria-label': isOwn ? null : t('kit.remove', { name: phone.name }) })));
    return element;
  };

  /** A form in place of the phone's buttons. */
  const rename = (element, phone) => {
    const input = h('input', { type: 'text', maxlength: '60', value: phone.name, autocomplete: 'off' });
    const wrong = trouble();
    const form = h('form', { class: 'row' }, field(t('pair.name'), input, 'field grow'),
      h('button', { type: 'submit', class: 'primary' }, t('phones.save')), button(t('ask.no'), load), wrong);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const done = await attempt(wrong, () => api.patch('/api/session', { name: input.value }));
      if (done) await load();
    });
    element.lastChild.replaceWith(form);
    input.select();
  };
  load();
  return section(t('kit.phones'), list, problem);
}

// The content of the kit's label, with which another phone is paired.

/** It is requested by a tap, because others may see the screen. */
export function labelSection({ api, t }) {
  const problem = trouble();
  const place = h('div', {}, button(t('label.show'), () => attempt(problem, async () => {
    const { address, code, fingerprint, wifi } = await api.get('/api/label');
    place.replaceChildren(facts([
      [t('label.page'), address], [t('label.code'), code],
      [t('label.wifi'), wifi?.name], [t('label.password'), wifi?.password], [t('label.there'), wifi?.address],
      [t('label.fingerprint'), fingerprint],
    ].filter(([, value]) => value)));
    place.tabIndex = -1;
    place.focus();
  })));
  return section(t('label.title'), h('p', { class: 'dim' }, t('label.how')), place, problem);
}

// The log of both services, newest line first; and the support file for a person who must examine the kit from far away.

/** Lines with at most this severity number get the class (RFC 5424): 3 is error, 4 is warning. */
const kinds = [['is-error', 3], ['is-warning', 4]];

export function logSection({ api, t }) {
  const list = h('ol', { class: 'plain log' });
  const problem = trouble();
  let next = null;
  const load = (isFirst) => attempt(problem, async () => {
    const page = await api.get(`/api/log?limit=100${isFirst ? '' : `&after=${encodeURIComponent(next)}`}`);
    if (isFirst) list.replaceChildren();
    list.append(...(page.lines.length ? page.lines.map(item) : [h('li', {}, t('kit.none'))]));
    next = page.next;
    more.hidden = next === null;
  });
  const more = button(t('log.more'), () => load(false), { hidden: true });
  const again = button(t('kit.again'), () => load(true));
  const support = button(t('support.make'), () => attempt(problem, async () => {
    support.disabled = true;
    try {
      const { name, content } = await api.file('/api/support');
      downloadContent(content, name);
    } finally {
      support.disabled = false;
    }
  }));
  const section = h('details', { class: 'card' }, h('summary', {}, t('log.title')), again, support, h('p', { class: 'dim' }, t('support.about')), list, more, problem);
  section.addEventListener('toggle', () => { if (section.open && !list.childElementCount) load(true); });
  return section;
}

function item({ time, priority, from, text }) {
  const kind = kinds.find(([, worst]) => priority <= worst)?.[0] ?? '';
  return h('li', { class: kind }, h('span', { class: 'dim' }, `${dateText(new Date(time))} ${from}`), h('br'), text);
}

// Updates of the kit's image: a file that the phone sends, and the kit's report about it.

const pause = 2000;

/** The section of the kit's page. `element.end()` ends it. */
export function updateSection({ api, t }) {
  const state = h('p', {});
  const report = h('ul', { class: 'plain', role: 'status' });
  const problem = trouble();
  // No `accept`, because phones do not offer files of unknown types.
  const file = h('input', { type: 'file' });
  let timer = 0;
  let ended = false;

  const show = (reply) => {
    state.textContent = t(`update.${reply.state}`);
    report.replaceChildren(...reply.report.map(({ good, text }) => h('li', { class: good ? '' : 'is-error' }, text)));
    form.hidden = reply.state === 'unavailable';
    send.disabled = reply.state !== 'idle';
  };
  const later = () => { if (!ended) timer = setTimeout(look, pause); };
  const look = async () => {
    clearTimeout(timer);
    const reply = await attempt(problem, () => api.get('/api/update'));
    if (reply) show(reply);
    // The kit may restart now and not answer for a minute.
    if (reply?.state !== 'idle' && reply?.state !== 'unavailable') later();
  };
  const send = button(t('update.send'), () => attempt(problem, async () => {
    const [chosen] = file.files;
    if (!chosen) throw new Error(t('update.none'));
    clearTimeout(timer);
    send.disabled = true;
    state.textContent = t('update.sending', { name: chosen.name });
    try {
      show(await api.put(`/api/update/${encodeURIComponent(chosen.name)}`, chosen));
    } catch (error) {
      await look();
      throw error;
    }
    later();
  }));
  const form = h('div', { class: 'row' }, field(t('update.file'), file), send);
  look();
  const element = section(t('update.title'), state, form, report, problem);
  element.end = () => { ended = true; clearTimeout(timer); };
  return element;
}
