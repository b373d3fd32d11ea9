// The shell: session, routes, connection, theme and language.
//
// A page is a function `page(root, context, …)` that fills `root` and returns a function that ends it. `context` has
//   api            requests (api.js)
//   events         `on(kind, handler)` returns a function that ends it: status, level, peaks, take, away, listening, catalog, connection
//   session()      the last answer of GET /api/session
//   status()       the last status, or null before the first one
//   t(key, values) a text in the page's language
//   say(message)   shows a message for a while; a screen reader announces it, too
//   fail(error)    shows an error until somebody closes it, a retry succeeds, or the page is left
//   succeed()      removes the error after a successful retry
//   ask(question, { confirm, refuse, danger }) asks a question; a promise of true or false
//   refresh()      requests the session again, and redraws the page
import { Events, api, loadPart } from './api.js';
import { button, h } from './dom.js';
import { addTexts, language, languageNames, setLanguage, t } from './texts.js';

const main = document.getElementById('main');
const said = document.getElementById('said');
const banner = document.getElementById('banner');
const notice = document.getElementById('notice');
const noticeMilliseconds = 8000;
const events = new Events();
let session = null;
let status = null;
let endPage = null;
let wasLost = false;
let noticeTimer = 0;
let beforeNotice = null;
let noticeAction = null;

const context = {
  api, events, t,
  session: () => session,
  status: () => status,
  /** Shows a message. `action` is a button `{ text, run }` next to it, which stays until it is used or the page changes. */
  say: (message, action = null) => tell(message, false, action),
  fail: (error) => tell(error.message, true),
  succeed: () => { if (notice.classList.contains('is-failure')) closeNotice(); },
  ask,
  refresh: begin,
  setTheme,
  setLanguage: (name) => { setLanguage(name); location.reload(); },
  languageNames,
};

const routes = [
  { pattern: /^\/takes\/([^/]+)$/, name: 'takes', load: () => takes(), page: 'takePage' },
  { pattern: /^\/takes$/, name: 'takes', load: () => takes(), page: 'takesPage' },
  { pattern: /^\/kit$/, name: 'kit', load: () => loadPart('kit.js'), page: 'kitPage' },
  { pattern: /^/, name: 'deck', load: () => loadPart('deck.js'), page: 'deckPage' },
];

async function takes() {
  const [texts, pages] = await Promise.all([loadPart('takes-texts.js'), loadPart('takes.js')]);
  addTexts('en', texts.en);
  addTexts('de', texts.de);
  return pages;
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
  endPage?.();
  endPage = null;
  const root = h('div', {});
  main.replaceChildren(root);
  const isPairing = session.right === 'none' || (path === '/pair' && session.right !== 'all');
  const load = isPairing ? () => loadPart('pair.js') : route.load;
  let module = null;
  try {
    module = await load();
    if (!root.isConnected) return;
    endPage = isPairing
      ? module.pairPage(root, context) : module[route.page](root, ...(parameters.length ? [...parameters, context] : [context]));
  } catch (error) {
    root.replaceChildren(h('h1', {}, t('page.failed')), h('p', {}, error.message), button(t('page.again'), show));
    if (!module) showOnceLoaded(root, load);
  }
  const heading = root.querySelector('h1');
  document.title = `${heading?.textContent ?? ''} · ${session.kit} · Fieldfare`;
}

/** Tries every 2 s to load the missing module of the page, then shows the page. */
function showOnceLoaded(root, load) {
  setTimeout(() => {
    if (root.isConnected) load().then(() => { if (root.isConnected) show(); }, () => showOnceLoaded(root, load));
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

/** Links to the same page over TLS, where browsers allow more functions. */
function showSecure() {
  const place = document.getElementById('secure');
  const port = session.secure_port;
  place.hidden = isSecureContext || !port;
  if (place.hidden) return;
  const address = `https://${location.hostname}${port === 443 ? '' : `:${port}`}/`;
  place.replaceChildren(h('a', { href: address }, t('secure.page')), ` ${t('secure.why')}`);
}

function showBanner(text) {
  banner.textContent = text;
  banner.hidden = !text;
  main.classList.toggle('is-stale', Boolean(text));
}

function tell(message, isFailure, action = null) {
  said.textContent = '';
  requestAnimationFrame(() => { said.textContent = message; });
  // A message of success does not replace a message of failure.
  if (!isFailure && !notice.hidden && notice.classList.contains('is-failure')) return;
  clearTimeout(noticeTimer);
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
        button(refuse, () => answer(false))));
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
  if (isConnected === false) showBanner(t('connection.lost'));
  else {
    showBanner('');
    if (wasLost) context.say(t('connection.back'));
  }
  wasLost = isConnected === false;
  // The token may have been revoked meanwhile.
  if (!isConnected) api.get('/api/session').then((found) => { if (found.right !== session.right) begin(); }, () => {});
});
events.on('status', (found) => { status = found; showBanner(''); });
events.on('away', ({ detail }) => showBanner(detail));

setTheme(localStorage.getItem('theme') ?? '');
document.documentElement.lang = language();
document.getElementById('skip').textContent = t('skip');
document.getElementById('skip').addEventListener('click', (event) => { event.preventDefault(); focusHeading(); });
notice.append(button('×', closeNotice, { 'aria-label': t('notice.close') }));
notice.addEventListener('focusin', ({ relatedTarget }) => { if (!notice.contains(relatedTarget)) beforeNotice = relatedTarget; });
const nav = document.getElementById('nav');
nav.setAttribute('aria-label', t('nav'));
nav.append(...['deck', 'takes', 'kit'].map((name) => h('a', { href: `#/${name}`, 'data-name': name }, t(`nav.${name}`))));
addEventListener('hashchange', () => show().then(focusHeading));
begin();
