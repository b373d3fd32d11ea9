// The kit: gain, storage, queue, clock, cards, lines, doctor, phones, settings, updates, log, and this page's appearance.
import { button, choices, field, h } from './dom.js';
import { queueText } from './deck.js';
import { gainSection } from './kit-gain.js';
import { historySection } from './kit-history.js';
import { inventorySections } from './kit-inventory.js';
import { logSection } from './kit-log.js';
import { attempt, facts, section, trouble } from './kit-parts.js';
import { updateSection } from './kit-update.js';
import { settingsSection } from './settings.js';
import { dateText, lengthText, sizeText } from './takes-format.js';

export function kitPage(root, context) {
  const { t } = context;
  const mayAct = context.session().right === 'all';
  const gain = mayAct ? gainSection(context) : null;
  const update = mayAct ? updateSection(context) : null;
  root.append(...[
    h('h1', {}, t('kit.title')), gain, storage(context, mayAct), queue(context, mayAct), clock(context, mayAct),
    ...inventorySections(context, mayAct), ...(mayAct ? [phones(context), settingsSection(context), update, historySection(context), logSection(context)] : []), look(context),
  ].filter(Boolean));
  return () => { gain?.end(); update?.end(); };
}

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
