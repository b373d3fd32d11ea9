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
