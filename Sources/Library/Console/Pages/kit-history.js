// The kit's history: temperature, voltage and free space over time, followed by the events that interest a technician.
import { button, h } from './dom.js';
import { attempt, trouble } from './kit-parts.js';
import { dateText } from './takes-format.js';

const width = 600, height = 72;
/** The key of the title, the unit, and a function that returns the value of a record. */
const series = [
  ['temperature', '°C', ({ temperatures }) => (temperatures ? Math.max(...Object.values(temperatures)) : null)],
  ['voltage', 'V', ({ supply_volts: volts }) => volts ?? null],
  ['free', 'GB', ({ free_bytes: bytes }) => (bytes == null ? null : bytes / 1e9)],
];
const listed = ['start', 'end', 'fault', 'clock', 'card', 'phone', 'left-out'];

export function historySection({ api, t }) {
  const charts = h('div', {});
  const list = h('ol', { class: 'plain log' });
  const problem = trouble();
  const load = () => attempt(problem, async () => {
    const { history } = await api.get('/api/history');
    charts.replaceChildren(...plots(history, t));
    const events = history.filter(({ event }) => listed.includes(event)).reverse();
    list.replaceChildren(...(events.length ? events.map((record) => item(record, t)) : [h('li', {}, t('kit.none'))]));
  });
  const section = h('details', { class: 'card' }, h('summary', {}, t('history.title')), button(t('kit.again'), load), charts, list, problem);
  section.addEventListener('toggle', () => { if (section.open && !list.childElementCount) load(); });
  return section;
}

function plots(history, t) {
  const measured = history.filter(({ event }) => event === 'measure');
  return series.map(([name, unit, value]) => {
    const points = measured.map((record) => [Date.parse(record.at), value(record)]).filter(([, y]) => y != null);
    return points.length > 1 ? plot(t(`history.${name}`), unit, points, history, t) : null;
  }).filter(Boolean);
}

/** A line over time, interrupted where the kit did not run for half an hour. */
function plot(name, unit, points, history, t) {
  // A clock that was not set yet is years behind, so points with such dates are left out.
  const newest = points.at(-1)[0];
  const shown = points.filter(([x]) => x <= newest && newest - x < 400 * 864e5);
  const [oldest, values] = [Math.min(...shown.map(([x]) => x)), shown.map(([, y]) => y)];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const across = (x) => ((x - oldest) / Math.max(1, newest - oldest)) * width;
  const up = (y) => height - 4 - ((y - least) / (most - least || 1)) * (height - 8);
  const path = shown.map(([x, y], i) => {
    const goesOn = i > 0 && x >= shown[i - 1][0] && x - shown[i - 1][0] < 30 * 60e3;
    return `${goesOn ? 'L' : 'M'}${across(x).toFixed(1)} ${up(y).toFixed(1)}`;
  }).join('');
  const faults = history.filter(({ event, at }) => event === 'fault' && Date.parse(at) >= oldest).map(({ at }) => across(Date.parse(at)));
  const digits = unit === 'V' ? 2 : 1;
  const text = t('history.range', { name, least: least.toFixed(digits), most: most.toFixed(digits), now: values.at(-1).toFixed(digits), unit });
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': text, preserveAspectRatio: 'none' },
    ...faults.map((x) => svg('path', { d: `M${x.toFixed(1)} 0V${height}`, class: 'fault' })), svg('path', { d: path, class: 'line' }));
  const dates = `${dateText(new Date(oldest))} – ${dateText(new Date(newest))}`;
  return h('figure', { class: 'history' }, h('figcaption', {}, text), picture, h('p', { class: 'dim' }, dates));
}

function svg(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function item(record, t) {
  const kind = record.event === 'fault' || ['power-cut', 'crash', 'watchdog'].includes(record.before) ? 'is-warning' : '';
  return h('li', { class: kind }, h('span', { class: 'dim' }, dateText(new Date(record.at))), h('br'), sentence(record, t));
}

function sentence(record, t) {
  switch (record.event) {
    case 'start': return `${t('history.start')} ${record.version}: ${t(`history.before.${record.before}`)}`;
    case 'end': return t(`history.end.${record.by}`);
    case 'fault': return t('history.fault', { n: record.code, message: record.message });
    case 'clock': return `${t('kit.clock')}: ${t(`clock.${record.origin}`)}`;
    case 'card': return `${t('deck.card')}: ${record.card}${record.port ? ` (USB ${record.port})` : ''}, ${record.format}`;
    case 'phone': return t(`history.${record.what}`, {
      phone: record.phone ?? '', by: record.by ?? t('history.nobody'), keys: (record.keys ?? []).join(', ') });
    default: return t('history.left', { n: record.count });
  }
}
