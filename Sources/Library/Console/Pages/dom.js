// Elements: how they are made, their pictures, sheets over the page, keys, and problems of a section.

// Makes elements in one call each.

/**
 * Makes an element.
 * @param {string} tag
 * @param {object} properties `on…` are listeners, all others attributes; null and false are left out, true is empty.
 * @param {...(Node|string|null)} children
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Sets a text only if it differs, because a screen reader would announce it again. */
export function setText(element, text) { if (element.textContent !== text) element.textContent = text; }

/** A control after its name. */
export function field(name, control, className = 'field') {
  return h('label', { class: className }, h('span', {}, name), control);
}

export function button(text, onclick, properties = {}) {
  return h('button', { type: 'button', onclick, ...properties }, text);
}

/** Choices `[value, text]` as a drop-down list. */
export function choices(options, value, onchange, properties = {}) {
  const element = h('select', { onchange: () => onchange(element.value), ...properties },
    ...options.map(([key, text]) => h('option', { value: key }, text)));
  element.value = value;
  return element;
}

/** Calls `redraw` when the page has other colours. Returns a function that ends this. */
export function onColours(redraw) {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const theme = new MutationObserver(redraw);
  dark.addEventListener('change', redraw);
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  return () => {
    dark.removeEventListener('change', redraw);
    theme.disconnect();
  };
}

/** Starts a download like a link. */
export function download(url, name = '') {
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

/** Starts a download of content in the page. */
export function downloadContent(content, name) {
  const url = URL.createObjectURL(content);
  download(url, name);
  // The browser reads the URL a little later.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// Small pictures in front of the texts of buttons and links. They say nothing that the text does not say.

const paths = {
  deck: 'M12 4a8 8 0 1 0 .01 0z', record: 'M12 4a8 8 0 1 0 .01 0z', stop: 'M5 5h14v14H5z', play: 'M7 4l13 8-13 8z', pause: 'M6 4h4v16H6zM14 4h4v16h-4z',
  mark: 'M5 3h2v18H5zM9 4h11l-4 4 4 4H9z', previous: 'M16 4v16L5 12z', next: 'M8 4v16l11-8z', skip: 'M5 4l10.5 8L5 20zM16 4h3v16h-3z', download: 'M10.8 3h2.4v9l3.4-3.4 1.7 1.7L12 16.6l-6.3-6.3 1.7-1.7 3.4 3.4zM4 18.6h16V21H4z',
  takes: 'M4 5h16v2.5H4zM4 10.8h16v2.4H4zM4 16.5h10V19H4z', day: 'M12 3a9 9 0 1 0 .01 0zM12 5v7h7a7 7 0 1 1-7-7z',
  kit: 'M4 6h8v2H4zM18 6h2v2h-2zM13.5 4H16v6h-2.5zM4 16h3v2H4zM13 16h7v2h-7zM8.5 14H11v6H8.5z',
};

/** Makes an element of a picture. */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A picture by its name. */
export function icon(name) { return svg('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' }, svg('path', { d: paths[name] })); }

// Keys without a modifier that act on a page. They can disturb speech input, so a person can switch them off.

const keysOff = 'fieldfare.keys';

export function areKeysOn() { return localStorage.getItem(keysOff) !== 'off'; }

/** The switch of the keys. */
export function keysSwitch(t) {
  const isOn = h('input', { type: 'checkbox', onchange: () => localStorage.setItem(keysOff, isOn.checked ? '' : 'off') });
  isOn.checked = areKeysOn();
  return h('label', { class: 'check' }, isOn, h('span', {}, t('keys.on')));
}

/** A table of keys: `[keys, description]`. */
export function keysTable(rows) {
  return h('dl', { class: 'keys' }, ...rows.flatMap(([keys, text]) => [h('dt', {}, h('kbd', {}, keys)), h('dd', {}, text)]));
}

/** Whether a key belongs to the browser or the system. Many keyboards have the brackets on AltGr. */
export function hasCommandKey(event) {
  return event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState('AltGraph'));
}

/** Whether a key is for the element with the focus. */
export function isTyping({ target, key }) {
  if (target.closest('textarea, select, input:not([type="checkbox"]), dialog')) return true;
  return key === ' ' && target.closest('button, summary, a, input') !== null;
}

// A sheet over the page: at the bottom of a phone's screen, in the middle of a larger one.

/**
 * Opens a sheet. It is closed by its button, a tap beside it, or Escape.
 * @param {string} title
 * @param {object} options `t`, and `onClose()`.
 * @param {...(Node|null)} contents
 * @returns {() => void} Closes it.
 */
export function openSheet(title, { t, onClose = () => {} }, ...contents) {
  const close = () => {
    if (!dialog.isConnected) return;
    dialog.close();
    dialog.remove();
    onClose();
  };
  const dialog = h('dialog', { class: 'sheet', 'aria-labelledby': 'sheet-title' },
    h('div', { class: 'sheet-head' }, h('h2', { id: 'sheet-title', tabindex: -1 }, title), button('×', close, { class: 'sheet-close', 'aria-label': t('sheet.close') })),
    ...contents);
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    close();
  });
  dialog.addEventListener('click', (event) => { if (event.target === dialog) close(); });
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector('h2').focus();
  return close;
}

// Parts that the sections of the kit's page share.

/** Runs an action that may be refused, and shows the error in `problem`. */
export async function attempt(problem, body) {
  problem.textContent = '';
  try {
    return await body();
  } catch (error) {
    problem.textContent = error.message;
    return null;
  }
}

/** A part of the page with a heading. */
export const section = (title, ...children) => h('section', { class: 'card' }, h('h2', {}, title), ...children);

/** The element for error messages. */
export const trouble = () => h('p', { role: 'alert', class: 'is-error' });

export const facts = (rows) => h('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
