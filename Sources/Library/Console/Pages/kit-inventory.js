// The kit's hardware: its cards with their formats, its lines, and the doctor, which lights the lamps one by one.
import { button, h } from './dom.js';
import { attempt, section, trouble } from './kit-parts.js';

const lamps = ['record', 'play', 'upload', 'fault'];

export function inventorySections(context, mayAct) {
  return [
    inventory(context, 'cards', (card) => cardItem(card, context.t)), inventory(context, 'lines', (line) => lineItem(line, context.t)),
    inventory(context, 'doctor', findingItem, mayAct ? lampRound(context) : null),
  ];
}

/** A list that is requested by a tap, because listing cards takes a moment. */
function inventory({ api, t }, name, item, more = null) {
  const list = h('ul', { class: 'plain kit-list' });
  const problem = trouble();
  const ask = button(t('kit.look'), () => attempt(problem, async () => {
    ask.disabled = true;
    try {
      const found = (await api.get(`/api/${name}`))[name];
      list.replaceChildren(...(found.length ? found.map(item) : [h('li', {}, t('kit.none'))]));
      ask.textContent = t('kit.again');
    } finally {
      ask.disabled = false;
    }
  }));
  return section(t(`kit.${name}`), ask, list, problem, more);
}

/** A card: its possible names in the settings, and its supported combinations for recording and playback. */
function cardItem(card, t) {
  const offers = (combinations) => h('ul', { class: 'plain' }, ...(combinations ?? []).map(({ format, channels, rates_hz: rates }) =>
    h('li', {}, t('card.offer', { format, channels: channels.join(', '), rates: rates.map((rate) => rate / 1000).join(', ') }))));
  const rows = [
    [t('card.names'), [card.id, ...(card.names ?? []).filter((name) => name !== card.id)].join(', ')],
    [t('card.records'), card.combinations?.length ? offers(card.combinations) : t('card.nothing')],
    [t('card.plays'), card.playback_combinations?.length ? offers(card.playback_combinations) : t('card.nothing')],
    ...[card.busy_by, card.playback_busy_by].filter(Boolean).map((holder) => [t('card.busy'), holder]),
    ...[card.error, card.playback_error].filter(Boolean).map((error) => [t('card.error'), error]),
  ];
  return h('li', {}, h('strong', {}, card.name ?? card.id), card.kind ? ` (${card.kind})` : '',
    h('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])));
}

const lineItem = ({ chip, offset, name, output, consumer, used }, t) => h('li', {},
  h('strong', {}, name ?? `${chip} ${offset}`), ' ',
  h('span', { class: 'dim' }, [`${chip} ${offset}`, t(output ? 'line.out' : 'line.in'), consumer ?? t(used ? 'line.used' : 'line.free')].join(', ')));

const severities = { ok: 'is-ok', warning: 'is-warning', error: 'is-error', failure: 'is-error' };
const findingItem = ({ severity, subject, message }) =>
  h('li', {}, h('strong', { class: severities[severity] ?? '' }, `${severity} · ${subject}`), h('br'), message);

/** Lights each lamp and asks the person at the kit. */
function lampRound({ api, t, ask }) {
  const found = h('ul', { class: 'plain kit-list', role: 'status' });
  const round = button(t('lamps.round'), async () => {
    found.replaceChildren();
    for (const lamp of lamps) {
      const name = t(`lamp.${lamp}`);
      const show = (text, severity) => found.append(h('li', { class: severities[severity] }, `${name}: ${text}`));
      try {
        await api.post('/api/deck/light', { lamp });
        const isLit = await ask(t('lamps.ask', { name }), { confirm: t('lamps.yes'), refuse: t('lamps.no') });
        show(t(isLit ? 'lamps.lit' : 'lamps.dark'), isLit ? 'ok' : 'error');
      } catch (error) {
        show(error.message, 'warning');
      }
    }
  });
  return h('div', {}, round, found);
}
