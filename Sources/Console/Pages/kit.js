// The kit: cards, lines, doctor, clock, storage, queue, phones, settings, and how this page looks.
import { button, choices, field, h } from './dom.js';
import { queueText } from './deck.js';
import { settingsSection } from './settings.js';
import { dateText, lengthText, sizeText } from './takes-format.js';

/** Shows the kit. */
export function kitPage(root, context) {
  const { t } = context;
  const mayAct = context.session().right === 'all';
  root.append(h('h1', {}, t('kit.title')), storage(context, mayAct), queue(context, mayAct), clock(context, mayAct),
    inventory(context, 'cards', cardItem), inventory(context, 'lines', lineItem(context, mayAct)), inventory(context, 'doctor', findingItem));
  if (mayAct) root.append(phones(context), settingsSection(context));
  root.append(look(context));
  return () => {};
}

/** Does something that may be refused; the sentence is shown in `problem`. */
async function attempt(problem, body) {
  problem.textContent = '';
  try {
    return await body();
  } catch (error) {
    problem.textContent = error.message;
    return null;
  }
}

const section = (title, ...children) => h('section', { class: 'card' }, h('h2', {}, title), ...children);
const trouble = () => h('p', { role: 'alert', class: 'is-error' });
const facts = (rows) => h('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));

function storage({ api, t, status, say }, mayAct) {
  const place = h('div', {});
  const problem = trouble();
  attempt(problem, async () => {
    const library = await api.get('/api/library');
    const now = status() ?? await api.get('/api/status');
    place.replaceChildren(facts([
      [t('kit.takes'), String(library.takes)],
      [t('kit.free'), t('deck.left.value', { time: lengthText(now.time_left_seconds ?? 0), size: sizeText(now.free_bytes ?? 0) })],
      ...library.directories.map(({ path }) => [t('kit.folder'), path]),
      [t('kit.version'), library.version],
    ]));
  });
  const eject = button(t('kit.eject'), () => attempt(problem, async () => { await api.post('/api/deck/eject'); say(t('kit.ejected')); }));
  return section(t('kit.storage'), place, mayAct ? h('p', {}, eject) : null, problem);
}

function queue({ api, t }, mayAct) {
  const text = h('p', {});
  const problem = trouble();
  const show = (outbox) => { if (outbox) text.textContent = queueText(outbox, t); };
  const ask = (path) => attempt(problem, async () => show(await api.post(`/api/outbox/${path}`)));
  attempt(problem, async () => show(await api.get('/api/outbox?limit=10')));
  const buttons = h('div', { class: 'row' }, ...['retry', 'pause', 'resume'].map((name) => button(t(`kit.${name}`), () => ask(name))));
  return section(t('kit.queue'), text, mayAct ? buttons : null, problem);
}

function clock({ api, t, say }, mayAct) {
  const problem = trouble();
  const time = h('p', {});
  const show = () => { time.textContent = `${t('kit.time')}: ${api.lastDate ? dateText(new Date(api.lastDate), true) : '–'}`; };
  show();
  const set = button(t('clock.set'), () => attempt(problem, async () => {
    await api.post('/api/deck/clock', { time: new Date().toISOString() });
    await api.get('/api/session');
    show();
    say(t('clock.done'));
  }));
  return section(t('kit.clock'), time, mayAct ? set : null, problem);
}

/** A list that is asked for by a tap: to list cards takes a moment. */
function inventory({ api, t }, name, item) {
  const list = h('ul', { class: 'plain kit-list' });
  const problem = trouble();
  const ask = button(t('kit.look'), () => attempt(problem, async () => {
    const found = (await api.get(`/api/${name}`))[name];
    list.replaceChildren(...(found.length ? found.map(item) : [h('li', {}, t('kit.none'))]));
    ask.textContent = t('kit.again');
  }));
  return section(t(`kit.${name}`), ask, list, problem);
}

/** What a card offers, in the words of its object. */
const cardItem = (card) => h('li', {}, h('strong', {}, card.name ?? card.id ?? ''), ' ', details(card, ['name']));

const lineItem = ({ api, t }, mayAct) => (line) => {
  const name = line.lamp ?? line.led ?? null;
  const problem = trouble();
  const light = mayAct && name && button(t('kit.light', { name }), () => attempt(problem, () => api.post('/api/deck/light', { lamp: name })));
  return h('li', {}, h('strong', {}, name ?? line.button ?? line.name ?? ''), ' ', details(line, ['name', 'lamp', 'button']), light || null, problem);
};

const severities = { ok: 'is-ok', warning: 'is-warning', error: 'is-error' };
const findingItem = ({ severity, subject, message }) =>
  h('li', {}, h('strong', { class: severities[severity] ?? '' }, `${severity} · ${subject}`), h('br'), message);

/** An object as a list of its figures. */
function details(object, without) {
  const rows = Object.entries(object).filter(([name, value]) => !without.includes(name) && value !== null && value !== '');
  const text = (value) => (Array.isArray(value) ? value.map(text).join(', ') : typeof value === 'object' ? Object.values(value).map(text).join(' ') : String(value));
  return h('span', { class: 'dim' }, rows.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${text(value)}`).join('; '));
}

function phones(context) {
  const { api, t, ask } = context;
  const list = h('ul', { class: 'plain kit-list' });
  const problem = trouble();
  const show = () => attempt(problem, async () => {
    const { phones: found } = await api.get('/api/phones');
    list.replaceChildren(...found.map((phone) => h('li', {},
      h('strong', {}, phone.name), ` ${t('kit.since', { date: dateText(new Date(phone.since)) })} `,
      phone.id === context.session().phone?.id ? `(${t('kit.this')}) ` : '',
      button(t('kit.remove', { name: phone.name }), async () => {
        if (!await ask(t('kit.remove.ask', { name: phone.name }), { confirm: t('kit.remove', { name: phone.name }), danger: true })) return;
        await attempt(problem, () => api.delete(`/api/phones/${phone.id}`));
        if (phone.id === context.session().phone?.id) context.refresh(); else show();
      }, { class: 'danger' }))));
  });
  show();
  return section(t('kit.phones'), list, problem);
}

function look({ t, setTheme, setLanguage, languageNames }) {
  const theme = choices(['', 'light', 'dark', 'sun'].map((name) => [name, t(`theme.${name}`)]), localStorage.getItem('theme') ?? '', setTheme);
  const language = choices(Object.entries(languageNames), document.documentElement.lang, setLanguage);
  return section(t('kit.page'), h('div', { class: 'row' }, field(t('kit.theme'), theme), field(t('kit.language'), language)));
}
