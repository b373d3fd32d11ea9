// The kit: what a technician sets first, the storage, the queue and the clock; and pages of its settings, phones, history, hardware and service.
import { attempt, button, choices, facts, field, h, section, setText, trouble } from './dom.js';
import { dateText, numberText, queueText, roomText, spanText } from './format.js';
import { historyPart, labelSection, logSection, phonesPart, updateSection } from './kit-parts.js';
import { Meters } from './deck-parts.js';
import { groupForm, stateText } from './settings-controls.js';
import { groupsOf, scheduledSeconds, SettingsStore, stateOf, summaryOf } from './settings-values.js';

// The gain of the card, set while its level is visible.

const usualStep = 0.5;
/** An event that the kit sent before an answer may come this much later than it, in milliseconds. */
const settleMilliseconds = 1000;

/**
 * The gain with its level. `element.end()` ends it.
 * @param {?(decibels: number) => void} keep Receives the value that a person wants to keep; null if the settings cannot be changed here.
 */
function gainSection(context, keep) {
  const { api, t, events } = context;
  const problem = trouble();
  const meters = new Meters(context);
  const value = h('output', {});
  const slider = h('input', { type: 'range', class: 'gain', 'aria-describedby': 'gain-note' });
  const agc = h('input', { type: 'checkbox' });
  const agcLine = h('label', { class: 'check' }, agc, h('span', {}, t('gain.agc')));
  const note = h('p', { class: 'dim', id: 'gain-note' });
  const line = field(t('gain.label'), h('span', { class: 'row' }, slider, value));
  const keeping = button(t('gain.keep'), () => keep(Number(slider.value)));
  const element = h('div', { class: 'set-live' }, meters.element, line, agcLine, keeping, note, problem);
  // The value still to send. While a request is pending, only the slider's last value is kept.
  let wanted = null;
  let isSending = false;
  /** The slider `follows` the kit, is `held` by a person, or shows what was `sent`. */
  let state = 'follows';
  let settling = 0;
  const text = (decibels) => `${numberText(decibels, 1)} dB`;
  const place = ({ gain_range_db: range, gain_db: gain }) => {
    Object.assign(slider, { min: range.min, max: range.max, step: range.step || usualStep });
    slider.value = gain ?? range.min;
    value.textContent = text(Number(slider.value));
  };
  const show = (status) => {
    const range = status.gain_range_db ?? null;
    line.hidden = range === null;
    keeping.hidden = range === null || !keep;
    agcLine.hidden = status.agc === null || status.agc === undefined;
    if (!agcLine.hidden) agc.checked = status.agc;
    note.textContent = t(range === null ? 'gain.none' : 'gain.note');
    meters.show(status.level_dbfs);
    if (range !== null && state === 'follows') place(status);
  };
  const follow = () => {
    state = 'follows';
    if (context.status()) show(context.status());
  };
  const set = (members) => attempt(problem, () => api.post('/api/deck/gain', members));
  slider.addEventListener('input', () => {
    state = 'held';
    clearTimeout(settling);
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
    if (state !== 'sent') return;
    if (status?.gain_range_db) place(status);
    settling = setTimeout(follow, status ? settleMilliseconds : 0);
  };
  slider.addEventListener('change', () => {
    state = 'sent';
    wanted = Number(slider.value);
    send();
  });
  agc.addEventListener('change', () => set({ agc: agc.checked }));
  const ends = [events.on('status', show), events.on('level', (level) => meters.show(level.level_dbfs))];
  if (context.status()) show(context.status());
  element.end = () => {
    for (const end of ends) end();
    clearTimeout(settling);
    meters.close();
  };
  return element;
}

// The settings: what a technician sets first as lines that open, all others by section.

/** Lists of the hardware that fields offer. Listing takes a moment, so it is done once, when a field needs it. */
function hardware(api) {
  const asked = new Map();
  return (name) => () => {
    if (!asked.has(name)) asked.set(name, api.get(`/api/${name}`).then((found) => found[name], () => []));
    return asked.get(name);
  };
}

/**
 * Settings on a page.
 * @param {'first' | 'more'} part Which groups.
 * @returns {{elements: Node[], end: () => void}}
 */
function settingsPart(part, context) {
  const { t, events } = context;
  const store = new SettingsStore(context);
  const list = hardware(context.api);
  const own = { ...context, store, cards: list('cards'), lines: list('lines') };
  const problem = trouble();
  const place = h('div', { class: 'set-list' });
  const notes = h('div', {});
  const rows = new Map();
  const facts = () => ({ status: context.status(), session: context.session() });

  const show = () => {
    const { settings, entries } = store;
    if (!settings) return;
    const groups = groupsOf(entries, store.kit, context.status())[part];
    const state = stateOf(settings.outcome);
    // Problems of keys that are here are shown at their fields.
    const shown = groups.flatMap(({ keys }) => keys).map((name) => entries.get(name).problem).filter(Boolean);
    const others = settings.problems.filter((sentence) => !shown.some((one) => sentence.endsWith(one)));
    const text = JSON.stringify([others, state]);
    if (notes.dataset.text !== text) {
      notes.dataset.text = text;
      notes.replaceChildren(...others.map((sentence) => h('p', { class: 'is-error' }, sentence)));
      if (state && state.state !== 'applied') notes.append(h('p', { class: state.state === 'refused' ? 'is-error' : 'is-warning' }, stateText(state, t)));
    }
    for (const group of groups) {
      if (!rows.has(group.name)) rows.set(group.name, groupRow(group.name, own, facts));
      rows.get(group.name).show(group.keys);
    }
    for (const [name, row] of rows) {
      if (!groups.some((group) => group.name === name)) { row.end(); row.element.remove(); rows.delete(name); }
    }
    const wanted = groups.map(({ name }) => rows.get(name).element);
    if (wanted.some((element, index) => place.children[index] !== element)) place.replaceChildren(...wanted);
  };
  store.watch(show);
  attempt(problem, () => store.load());
  const ends = [
    events.on('status', show),
    // The services have restarted.
    events.on('connection', ({ isConnected }) => { if (isConnected) attempt(problem, () => store.load()); }),
  ];
  return {
    elements: [notes, place, problem],
    end() {
      for (const end of ends) end();
      for (const row of rows.values()) row.end();
      store.end();
    },
  };
}

/** A line with a group's name and what is in force. It opens the group's form. */
function groupRow(name, context, facts) {
  const { t, store } = context;
  const value = h('span', { class: 'set-value' });
  const body = h('div', { class: 'set-body' });
  const summary = h('summary', {}, h('span', { class: 'set-name' }, t(`group.${name}`)), value);
  const element = h('details', { class: 'set', 'data-name': name }, summary, body);
  let keys = [];
  let built = '';
  let form = null;
  let live = null;
  const end = () => {
    live?.end();
    live?.remove();
    live = null;
  };
  const build = () => {
    if (!element.open) return;
    // The gain is set while its level is visible; the form has what is kept.
    if (name === 'gain' && !live) {
      live = gainSection(context, store.settings.changeable ? (value) => form.fill('capture.gain_db', value) : null);
      body.prepend(live);
    }
    const wanted = keys.join();
    if (built === wanted || form?.isChanged()) return;
    built = wanted;
    form?.remove();
    form = groupForm(keys, context);
    body.append(form);
  };
  element.addEventListener('toggle', () => { if (element.open) build(); else end(); });
  return {
    element, end,
    show(offered) {
      keys = offered;
      const isWrong = keys.some((key) => store.entries.get(key).problem);
      const said = [summaryOf(name, store.entries, facts(), t), more(name, store.entries, t)].filter(Boolean).join(' · ');
      // A number stays with its unit, and an end with its beginning.
      const text = isWrong ? t('set.wrong') : said.replace(/(\d) (?=\p{L})/gu, '$1\u00a0').replaceAll('–', '\u2060–\u2060');
      setText(value, text);
      value.classList.toggle('is-error', isWrong);
      build();
    },
  };
}

/** How long a day the hours of the schedule are. */
function more(name, entries, t) {
  const seconds = name === 'schedule' ? scheduledSeconds(entries) : 0;
  return seconds ? t('hours.length', { time: spanText(seconds, t) }) : '';
}

// The kit's hardware: its cards with their formats, its lines, and the doctor, which lights the lamps one by one.

const lamps = ['record', 'play', 'upload', 'fault'];

function inventorySections(context, mayAct) {
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
  return h('li', {}, h('strong', {}, card.name ?? card.id), card.kind ? ` (${card.kind})` : '', facts(rows));
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
      // The page was left.
      if (!found.isConnected) return;
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

/** The pages below the kit's: what each shows, and whether only a paired phone sees it. */
const parts = {
  settings: { isPaired: true, show: (context) => part(settingsPart('more', context)) },
  phones: { isPaired: true, show: (context) => ({ elements: [phonesPart(context), labelSection(context)] }) },
  history: { isPaired: true, show: (context) => ({ elements: historyPart(context) }) },
  hardware: { isPaired: false, show: (context, mayAct) => ({ elements: inventorySections(context, mayAct) }) },
  service: { isPaired: true, show: (context) => {
    const [update, log] = [updateSection(context), logSection(context)];
    log.open = true;
    return { elements: [update, log], end: update.end };
  } },
};

const part = ({ elements, end }) => ({ elements: [h('section', { class: 'card' }, ...elements)], end });

/** @param name A page below this one, or undefined. */
export function kitPage(root, name, context) {
  const { t } = context;
  const mayAct = context.session().right === 'all';
  const offered = Object.keys(parts).filter((one) => mayAct || !parts[one].isPaired);
  if (offered.includes(name)) {
    const { elements, end } = parts[name].show(context, mayAct);
    root.append(h('a', { class: 'back', href: '#/kit' }, `‹ ${t('kit.title')}`), h('h1', {}, t(`kit.part.${name}`)), ...elements);
    return end;
  }
  const first = mayAct ? settingsPart('first', context) : null;
  const sections = [storage(context, mayAct), queue(context, mayAct)];
  const time = clock(context, mayAct);
  const load = () => {
    const outbox = context.api.get('/api/outbox?limit=10');
    // Each section shows the failure itself.
    outbox.catch(() => {});
    for (const each of sections) each.load(outbox);
  };
  load();
  // The kit may have restarted.
  const unlisten = context.events.on('connection', ({ isConnected }) => { if (isConnected) load(); });
  const arrow = () => h('span', { 'aria-hidden': 'true' }, '›');
  const link = (one) => h('li', {}, h('a', { href: `#/kit/${one}` }, h('span', {}, t(`kit.part.${one}`)), arrow()));
  const others = offered.filter((one) => one !== 'settings').map(link);
  root.append(...[
    h('h1', {}, t('kit.title')),
    first && section(t('kit.settings'), ...first.elements, h('ul', { class: 'plain kit-links' }, link('settings'))),
    ...sections.map(({ element }) => element), time.element,
    h('nav', { class: 'card', 'aria-label': t('kit.more') }, h('ul', { class: 'plain kit-links' }, ...others)),
    look(context),
  ].filter(Boolean));
  return () => {
    first?.end();
    time.end();
    unlisten();
  };
}

function storage({ api, t, status, say }, mayAct) {
  const place = h('div', {});
  const problem = trouble();
  const eject = button(t('kit.eject'), () => attempt(problem, async () => {
    await api.post('/api/deck/eject');
    say(t('kit.ejected'));
  }), { hidden: true });
  const load = (outbox) => attempt(problem, async () => {
    const library = await api.get('/api/library');
    const now = status() ?? await api.get('/api/status');
    place.replaceChildren(facts([
      [t('kit.takes'), numberText(library.takes)],
      [t('kit.free'), roomText(now, t)],
      ...library.directories.map(({ path }) => [t('kit.folder'), path]),
      [t('kit.version'), library.version],
    ]));
    // A kit without a stick has nothing to eject.
    const { stores } = await outbox;
    const hasStick = stores.some(({ store }) => store === 'stick') || now.directory?.startsWith(stickFolder);
    eject.hidden = !mayAct || !hasStick;
  });
  return { element: section(t('kit.storage'), place, eject, problem), load };
}

const stickFolder = '/run/fieldfare/stick';

/** The upload queue, with the actions that change something now. */
function queue({ api, t }, mayAct) {
  const text = h('p', {});
  const problem = trouble();
  const ask = (path) => attempt(problem, async () => show(await api.post(`/api/outbox/${path}`)));
  const action = (name) => button(t(`kit.${name}`), () => ask(name), { hidden: true });
  const buttons = { retry: action('retry'), pause: action('pause'), resume: action('resume') };
  const show = (found) => {
    if (!found) return;
    const { stores, paused } = found;
    text.textContent = queueText(found, t);
    buttons.retry.hidden = !mayAct || !stores.some(({ waiting, held }) => waiting || held);
    buttons.pause.hidden = !mayAct || !stores.length || paused;
    buttons.resume.hidden = !mayAct || !paused;
  };
  return {
    element: section(t('kit.queue'), text, h('div', { class: 'row' }, ...Object.values(buttons)), problem),
    load: (outbox) => attempt(problem, async () => show(await outbox)),
  };
}

function clock({ api, t, say }, mayAct) {
  const problem = trouble();
  const time = h('p', {});
  const show = () => { time.textContent = `${t('kit.time')}: ${api.lastDate ? dateText(new Date(Date.now() - api.clockDifference), true) : '–'}`; };
  show();
  const timer = setInterval(show, 1000);
  const set = button(t('act.clock'), () => attempt(problem, async () => {
    await api.post('/api/deck/clock', { time: new Date().toISOString() });
    await api.get('/api/session');
    show();
    say(t('clock.done'));
  }));
  return { element: section(t('kit.clock'), time, mayAct ? set : null, problem), end: () => clearInterval(timer) };
}

function look({ t, setTheme, setLanguage, languageNames }) {
  const theme = choices(['', 'light', 'dark', 'sun'].map((name) => [name, t(`theme.${name}`)]), localStorage.getItem('theme') ?? '', setTheme);
  const language = choices(Object.entries(languageNames), document.documentElement.lang, setLanguage);
  return section(t('kit.page'), h('div', { class: 'row' }, field(t('kit.theme'), theme), field(t('kit.language'), language)));
}
