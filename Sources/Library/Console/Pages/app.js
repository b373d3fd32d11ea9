// The shell: session, routes, connection, theme and language.
//
// A page is a function `page(root, context, …)` that fills `root` and returns a function that ends it. `context` has
//   api            requests (api.js)
//   events         `on(kind, handler)` returns a function that ends it: status, level, peaks, take, away, listening, catalog, connection
//   session()      the last answer of GET /api/session
//   status()       the last status, or null before the first one
//   heardAt()      when the last status or level came, by performance.now(), or null before the first one
//   isReachable()  whether the kit is connected, as far as is known
//   t(key, values) a text in the page's language
//   say(message)   shows a message for a while; a screen reader announces it, too
//   announce(text) tells a screen reader what the page shows elsewhere
//   fail(error)    shows an error until somebody closes it, a retry succeeds, or the page is left
//   succeed()      removes the error after a successful retry
//   ask(question, { confirm, refuse, danger }) asks a question; a promise of true or false
//   showTitle(text) names the page in the browser's title, if its heading changes
//   refresh()      requests the session again, and redraws the page
//   places         elements outside the page that it may fill, and must empty at its end: thumbs (buttons at the bottom) and measured (a text
//                  at the top). `sound` is that of the player (sound.js), which stays.
import { api, Events, loadPart, loadTexts, Unread } from './api.js';
import { button, field, h, icon, setText, trouble } from './dom.js';
import { language, languageNames, languageOf, setLanguage, t } from './texts.js';

const main = document.getElementById('main');
const said = document.getElementById('said');
const banner = document.getElementById('banner');
const notice = document.getElementById('notice');
const noticeMilliseconds = 8000;
/** A phone that was locked is connected again within this time. This is not worth a message. */
const graceMilliseconds = 2500;
const events = new Events();
let session = null;
let status = null;
let heardAt = null;
let endPage = null;
let wasLost = false;
let lostTimer = 0;
let noticeTimer = 0;
let beforeNotice = null;
let noticeAction = null;
/** What a notice is about: `lost` or `connected`, which may end before somebody closes it, or null. */
let noticeCause = null;

const context = {
  api, events, t,
  session: () => session,
  status: () => status,
  heardAt: () => heardAt,
  isReachable: () => events.isConnected !== false,
  /** Shows a message. `action` is a button `{ text, run }` next to it, which stays until it is used or the page changes. */
  say: (message, action = null) => tell(message, { action }),
  announce,
  fail: (error) => tell(error.message, { isFailure: true, cause: error instanceof Unread ? 'lost' : null }),
  succeed: () => { if (notice.classList.contains('is-failure')) closeNotice(); },
  ask,
  showTitle,
  refresh: begin,
  setTheme,
  setLanguage: (name) => { setLanguage(name); location.reload(); },
  languageNames,
  places: Object.fromEntries(['thumbs', 'measured', 'sound'].map((name) => [name, document.getElementById(name)])),
};

/** The pages: the module, the texts that it needs beside those of all pages, and the function. */
const routes = [
  { pattern: /^\/takes\/([^/?]+)(?:\?(at|see)=(\d+(?:\.\d+)?))?$/, name: 'takes', file: 'take.js', texts: 'takes-texts', page: 'takePage' },
  { pattern: /^\/takes$/, name: 'takes', file: 'takes.js', texts: 'takes-texts', page: 'takesPage' },
  { pattern: /^\/day(?:\/([^/]*))?$/, name: 'day', file: 'day.js', texts: 'takes-texts', page: 'dayPage' },
  { pattern: /^\/kit(?:\/([a-z]+))?$/, name: 'kit', file: 'kit.js', texts: 'kit-texts', page: 'kitPage' },
  { pattern: /^/, name: 'deck', file: 'deck.js', texts: null, page: 'deckPage' },
];
const pairing = { file: null, texts: null, page: 'pairPage' };

/** The module of a page, once its texts are there too. */
async function loadPage({ file, texts }) {
  const [module] = await Promise.all([file ? loadPart(file) : { pairPage }, texts && loadTexts(texts)]);
  return module;
}

/** The page of a phone that is not paired: explains how it is paired, and pairs it. */
function pairPage(root, context) {
  const { t, api } = context;
  const name = h('input', { type: 'text', maxlength: '60', value: deviceName(t), autocomplete: 'off' });
  const state = h('p', { role: 'status' }, t('pair.waiting'));
  const problem = trouble();
  const code = h('input', { type: 'text', inputmode: 'numeric', autocomplete: 'one-time-code', pattern: '[0-9]{6}', maxlength: '6', required: true });
  const pairing = h('button', { type: 'submit', class: 'primary', disabled: true }, t('pair.title'));
  const form = h('form', { class: 'row' }, field(t('pair.name'), name, 'field grow'), field(t('pair.code'), code, 'field'), pairing);
  form.addEventListener('submit', (event) => { event.preventDefault(); pair({ code: code.value }); });

  async function pair(more) {
    problem.textContent = '';
    try {
      await api.post('/api/session', { name: name.value.trim() || t('pair.phone'), ...more });
      await context.refresh();
    } catch (error) {
      problem.textContent = error.message;
      code.value = '';
      look();
    }
  }
  async function look() {
    const session = await api.get('/api/session').catch(() => null);
    pairing.disabled = !session?.pairing;
    setText(state, t(!session ? 'connection.none' : session.pairing ? 'pair.open' : `pair.${session.pairing_ended ?? 'waiting'}`));
  }
  root.append(
    h('h1', {}, t('pair.title')), h('p', {}, t('pair.how')),
    h('div', { class: 'card' }, form, state, problem));
  if (context.session().password) {
    const password = h('input', { type: 'password', autocomplete: 'current-password' });
    const other = h('form', { class: 'row' }, field(t('pair.password'), password, 'field grow'), h('button', { type: 'submit' }, t('pair.with')));
    other.addEventListener('submit', (event) => { event.preventDefault(); pair({ password: password.value }); });
    root.append(h('div', { class: 'card' }, other));
  }
  look();
  const timer = setInterval(look, 2000);
  return () => clearInterval(timer);
}

function deviceName(t) {
  const system = /iPhone|iPad|Android|Windows|Mac OS|Linux/.exec(navigator.userAgent)?.[0];
  return system ? `${t('pair.phone')} (${system})` : t('pair.phone');
}

/** An address typed by a person may not be valid text. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function show() {
  const path = decoded(location.hash.slice(1)) || '/deck';
  const route = routes.find(({ pattern }) => pattern.test(path));
  const [, ...parameters] = route.pattern.exec(path);
  for (const link of document.querySelectorAll('#nav a')) {
    if (link.dataset.name === route.name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  closeNotice();
  // The questions and sheets of the page that is left, for which a browser's "back" leaves it.
  for (const dialog of document.querySelectorAll('dialog')) dialog.dispatchEvent(new Event('cancel'));
  endPage?.();
  endPage = null;
  const isPairing = session.right === 'none' || (path === '/pair' && session.right !== 'all');
  const shown = isPairing ? pairing : route;
  // A screen reader needs to know if the page is not in the chosen language.
  const root = h('div', { lang: shown.texts && languageOf(shown.texts) });
  main.replaceChildren(root);
  let module = null;
  try {
    module = await loadPage(shown);
    if (!root.isConnected) return;
    endPage = module[shown.page](root, ...(isPairing ? [] : parameters), context);
  } catch (error) {
    if (!root.isConnected) return;
    root.replaceChildren(h('h1', {}, t('page.failed')), h('p', {}, error.message), button(t('page.again'), show));
    if (!module) showOnceLoaded(root, shown);
  }
  showTitle(root.querySelector('h1')?.textContent ?? '');
}

function showTitle(text) { document.title = `${text} · ${session.kit} · Fieldfare`; }

/** Tries every 2 s to load the missing modules of a page, then shows it. */
function showOnceLoaded(root, page) {
  setTimeout(() => {
    if (root.isConnected) loadPage(page).then(() => { if (root.isConnected) show(); }, () => showOnceLoaded(root, page));
  }, 2000);
}

function focusHeading() {
  const heading = main.querySelector('h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}

async function begin() {
  try {
    session = await api.get('/api/session');
  } catch {
    showBanner(t('connection.none'));
    setTimeout(begin, 2000);
    return;
  }
  showBanner('');
  document.getElementById('brand').textContent = session.kit;
  showSecure();
  if (session.right === 'none') events.stop();
  else events.start();
  await show();
}

/** The token may have been revoked meanwhile, and an updated kit has other modules, which do not fit to those that are loaded. */
async function lookAtSession() {
  const found = await api.get('/api/session').catch(() => null);
  if (!found) return;
  if (found.version !== session.version) location.reload();
  else if (found.right !== session.right) begin();
}

/** Links to the same page over TLS, where browsers allow more functions. */
function showSecure() {
  const place = document.getElementById('secure');
  const port = session.secure_port;
  place.hidden = isSecureContext || !port;
  if (place.hidden) return;
  const address = `https://${location.hostname}${port === 443 ? '' : `:${port}`}/`;
  place.replaceChildren(h('a', { href: address }, t('secure.page')), ` ${t('secure.why')}`);
}

/** Shows that the kit cannot be reached, or removes that. `detail` is the kit's own sentence. */
function showBanner(text, detail = '') {
  if (banner.hidden === !text && banner.dataset.text === text + detail) return;
  banner.dataset.text = text + detail;
  banner.replaceChildren(text, detail ? h('details', {}, h('summary', {}, t('fault.more')), detail) : '');
  banner.hidden = !text;
  main.classList.toggle('is-stale', Boolean(text));
}

function announce(text) {
  said.textContent = '';
  requestAnimationFrame(() => { said.textContent = text; });
}

function tell(message, { isFailure = false, action = null, cause = null } = {}) {
  announce(message);
  // A message of success does not replace a message of failure, unless it offers the only way back.
  if (!isFailure && !action && !notice.hidden && notice.classList.contains('is-failure')) return;
  clearTimeout(noticeTimer);
  noticeCause = cause;
  notice.classList.toggle('is-failure', isFailure);
  document.getElementById('notice-text').textContent = message;
  noticeAction?.remove();
  noticeAction = action && button(action.text, () => { closeNotice(); action.run(); });
  if (noticeAction) document.getElementById('notice-text').after(noticeAction);
  notice.hidden = false;
  if (!isFailure && !action) noticeTimer = setTimeout(closeNotice, noticeMilliseconds);
}

function closeNotice() {
  clearTimeout(noticeTimer);
  const hadFocus = notice.contains(document.activeElement);
  notice.hidden = true;
  if (hadFocus) (beforeNotice?.isConnected ? beforeNotice : main).focus();
}

function ask(question, { confirm = t('ask.yes'), refuse = t('ask.no'), danger = false } = {}) {
  return new Promise((resolve) => {
    const answer = (value) => { dialog.close(); dialog.remove(); resolve(value); };
    const dialog = h('dialog', { 'aria-labelledby': 'question' },
      h('p', { id: 'question' }, question),
      h('div', { class: 'row' },
        button(confirm, () => answer(true), { class: danger ? 'danger' : 'primary' }),
        button(refuse, () => answer(false), { autofocus: danger })));
    dialog.addEventListener('cancel', (event) => { event.preventDefault(); answer(false); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  localStorage.setItem('theme', name);
}

events.on('connection', ({ isConnected }) => {
  // A notice about the former state is not true any more.
  if (!notice.hidden && noticeCause === (isConnected ? 'lost' : 'connected')) closeNotice();
  clearTimeout(lostTimer);
  if (!isConnected) {
    lostTimer = setTimeout(() => {
      wasLost = true;
      showBanner(t('connection.lost'));
    }, graceMilliseconds);
  } else {
    showBanner('');
    if (wasLost) tell(t('connection.back'), { cause: 'connected' });
  }
  if (!isConnected || wasLost) lookAtSession();
  if (isConnected) wasLost = false;
});
events.on('status', (found) => { heardAt = performance.now(); status = { ...found, heardAt }; showBanner(''); });
events.on('level', () => { heardAt = performance.now(); });
events.on('away', ({ detail }) => showBanner(t('connection.away'), detail));

/** Fills in what all pages share, and shows the first one. */
async function start() {
  try {
    await loadTexts('texts');
  } catch {
    setTimeout(start, 2000);
    return;
  }
  document.getElementById('skip').textContent = t('skip');
  notice.append(button('×', closeNotice, { 'aria-label': t('notice.close') }));
  const nav = document.getElementById('nav');
  nav.setAttribute('aria-label', t('nav'));
  nav.append(...['deck', 'takes', 'day', 'kit'].map((name) => h('a', { href: `#/${name}`, 'data-name': name }, icon(name), h('span', {}, t(`nav.${name}`)))));
  addEventListener('hashchange', () => show().then(focusHeading));
  begin();
}

setTheme(localStorage.getItem('theme') ?? '');
document.documentElement.lang = language();
document.getElementById('skip').addEventListener('click', (event) => { event.preventDefault(); focusHeading(); });
notice.addEventListener('focusin', ({ relatedTarget }) => { if (!notice.contains(relatedTarget)) beforeNotice = relatedTarget; });
// Other fixed bars stay above the navigation and the buttons.
const places = [document.getElementById('dock'), document.getElementById('bottom')];
const dock = new ResizeObserver(() => {
  document.documentElement.style.setProperty('--dock', `${Math.max(...places.map(({ offsetHeight }) => offsetHeight))}px`);
});
for (const place of places) dock.observe(place);
start();
