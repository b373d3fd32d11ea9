// The gain of the card, set while its level is visible.
import { field, h } from './dom.js';
import { attempt, section, trouble } from './kit-parts.js';
import { Meters } from './meters.js';
import { numberText } from './takes-format.js';

const usualStep = 0.5;

/** The section of the kit's page. `element.end()` ends it. */
export function gainSection(context) {
  const { api, t, events } = context;
  const problem = trouble();
  const meters = new Meters(context);
  const value = h('output', {});
  const slider = h('input', { type: 'range', class: 'gain', 'aria-describedby': 'gain-note' });
  const agc = h('input', { type: 'checkbox' });
  const agcLine = h('label', { class: 'check' }, agc, h('span', {}, t('gain.agc')));
  const note = h('p', { class: 'dim', id: 'gain-note' });
  const line = field(t('gain.label'), h('span', { class: 'row' }, slider, value));
  const element = section(t('gain.title'), meters.element, line, agcLine, note, problem);
  // The value still to send. While a request is pending, only the slider's last value is kept.
  let wanted = null;
  let isMoved = false;
  let isSending = false;
  const text = (decibels) => `${numberText(decibels, 1)} dB`;
  const show = (status) => {
    const range = status.gain_range_db ?? null;
    line.hidden = range === null;
    agcLine.hidden = status.agc === null || status.agc === undefined;
    if (!agcLine.hidden) agc.checked = status.agc;
    note.textContent = t(range === null ? 'gain.none' : 'gain.note');
    meters.show(status.level_dbfs);
    if (range === null || isMoved) return;
    Object.assign(slider, { min: range.min, max: range.max, step: range.step || usualStep });
    slider.value = status.gain_db ?? range.min;
    value.textContent = text(Number(slider.value));
  };
  const set = (members) => attempt(problem, () => api.post('/api/deck/gain', members));
  slider.addEventListener('input', () => {
    isMoved = true;
    value.textContent = text(Number(slider.value));
  });
  const send = async () => {
    if (isSending) return;
    isSending = true;
    let status = null;
    while (wanted !== null) {
      const gain = wanted;
      wanted = null;
      status = await set({ gain_db: gain });
    }
    isSending = false;
    isMoved = false;
    if (status ?? context.status()) show(status ?? context.status());
  };
  slider.addEventListener('change', () => {
    wanted = Number(slider.value);
    send();
  });
  agc.addEventListener('change', () => set({ agc: agc.checked }));
  const ends = [events.on('status', show), events.on('level', (level) => meters.show(level.level_dbfs))];
  if (context.status()) show(context.status());
  element.end = () => {
    for (const end of ends) end();
    meters.close();
  };
  return element;
}
