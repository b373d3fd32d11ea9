// Elements of a page, as far as its modules use them: a tree with attributes, texts, the focus and events. Nothing is laid out or drawn.
import { define } from './browser.js';

class Node {
  parent = null;

  get isConnected() { return this === document.body || (this.parent?.isConnected ?? false); }
  get parentElement() { return this.parent; }
  get nextElementSibling() { return this.parent ? this.parent.children[this.parent.children.indexOf(this) + 1] ?? null : null; }

  remove() {
    if (!this.parent) return;
    const { parent } = this;
    if (this.contains?.(document.activeElement)) document.activeElement = document.body;
    parent.childNodes.splice(parent.childNodes.indexOf(this), 1);
    this.parent = null;
  }

  before(...nodes) { this.parent.insert(nodes, this); }
  after(...nodes) { this.parent.insert(nodes, this.parent.childNodes[this.parent.childNodes.indexOf(this) + 1] ?? null); }

  replaceWith(...nodes) {
    this.before(...nodes);
    this.remove();
  }
}

class Text extends Node {
  constructor(text) {
    super();
    this.textContent = String(text);
  }
}

/** A compound selector: a tag, `#id`, `.class`, `[name]`, `[name="value"]`, and `:not(…)` of these. */
function isCompound(element, selector) {
  const rest = selector.replace(/:not\(([^)]*)\)/g, '');
  for (const [, list] of selector.matchAll(/:not\(([^)]*)\)/g)) if (list.split(',').some((one) => isCompound(element, one.trim()))) return false;
  return [...rest.matchAll(/([.#]?)([\w-]+)|\[([\w-]+)(?:=['"]?([^'"\]]*)['"]?)?\]/g)].every(([, kind, name, attribute, value]) => {
    if (attribute) return value === undefined ? element.attributes.has(attribute) : element.getAttribute(attribute) === value;
    if (kind === '.') return element.classList.contains(name);
    return kind === '#' ? element.getAttribute('id') === name : element.tagName === name.toUpperCase();
  });
}

/** Whether an element is one of a list of selectors, whose parts are separated by spaces or commas. */
function isOne(element, selectors) {
  return selectors.split(/,(?![^(]*\))/).some((selector) => {
    const parts = selector.trim().split(/\s+(?![^[(]*[\])])/);
    if (!isCompound(element, parts.pop())) return false;
    let above = element.parent;
    while (parts.length) {
      while (above && !isCompound(above, parts.at(-1))) above = above.parent;
      if (!above) return false;
      parts.pop();
      above = above.parent;
    }
    return true;
  });
}

const reflected = { hidden: false, disabled: false, readOnly: false, href: '', title: '', type: '', open: false };

export class Element extends Node {
  childNodes = [];
  attributes = new Map();
  listeners = new Map();
  style = { setProperty: (name, value) => { this.style[name] = value; }, removeProperty: (name) => { delete this.style[name]; } };
  #value = null;

  constructor(tag) {
    super();
    this.tagName = tag.toUpperCase();
    this.dataset = new Proxy({}, {
      get: (_, name) => this.getAttribute(`data-${dashed(name)}`) ?? undefined,
      set: (_, name, value) => { this.setAttribute(`data-${dashed(name)}`, value); return true; },
      deleteProperty: (_, name) => this.attributes.delete(`data-${dashed(name)}`) || true,
    });
    this.classList = {
      contains: (name) => this.className.split(' ').includes(name),
      toggle: (name, isOn = !this.classList.contains(name)) => {
        const others = this.className.split(' ').filter((one) => one && one !== name);
        this.className = [...others, ...(isOn ? [name] : [])].join(' ');
      },
      add: (name) => this.classList.toggle(name, true), remove: (name) => this.classList.toggle(name, false),
    };
    for (const [name, standard] of Object.entries(reflected)) {
      const attribute = name.toLowerCase();
      Object.defineProperty(this, name, typeof standard === 'boolean' ? {
        get: () => this.attributes.has(attribute), set: (isOn) => (isOn ? this.setAttribute(attribute, '') : this.attributes.delete(attribute)),
      } : { get: () => this.getAttribute(attribute) ?? '', set: (value) => this.setAttribute(attribute, value) });
    }
  }

  get className() { return this.getAttribute('class') ?? ''; }
  set className(names) { this.setAttribute('class', names); }
  get children() { return this.childNodes.filter((node) => node instanceof Element); }
  get firstChild() { return this.childNodes[0] ?? null; }
  get lastChild() { return this.childNodes.at(-1) ?? null; }
  get textContent() { return this.childNodes.map((node) => node.textContent).join(''); }
  set textContent(text) { this.replaceChildren(...(text === '' ? [] : [text])); }
  get defaultValue() { return this.getAttribute('value') ?? ''; }
  get value() { return this.#value ?? (this.tagName === 'SELECT' ? this.children[0]?.value ?? '' : this.defaultValue); }
  set value(value) { this.#value = String(value); }
  get checked() { return this.isChecked ?? this.attributes.has('checked'); }
  set checked(isChecked) { this.isChecked = isChecked; }

  setAttribute(name, value) { this.attributes.set(name, String(value)); }
  getAttribute(name) { return this.attributes.get(name) ?? null; }
  removeAttribute(name) { this.attributes.delete(name); }
  contains(node) { return node === this || (node?.parent ? this.contains(node.parent) : false); }
  matches(selectors) { return isOne(this, selectors); }
  closest(selectors) { return this.matches(selectors) ? this : this.parent?.closest(selectors) ?? null; }
  querySelector(selectors) { return this.querySelectorAll(selectors)[0] ?? null; }

  querySelectorAll(selectors) {
    return this.children.flatMap((child) => [...(child.matches(selectors) ? [child] : []), ...child.querySelectorAll(selectors)]);
  }

  append(...nodes) { this.insert(nodes, null); }
  prepend(...nodes) { this.insert(nodes, this.firstChild); }
  insertBefore(node, next) { this.insert([node], next); }

  insert(nodes, next) {
    for (const one of nodes) {
      const node = one instanceof Node ? one : new Text(one);
      const active = document.activeElement;
      node.remove();
      // A node that is moved loses the focus, as in a browser.
      if (node.contains?.(active)) document.activeElement = document.body;
      this.childNodes.splice(next ? this.childNodes.indexOf(next) : this.childNodes.length, 0, node);
      node.parent = this;
    }
  }

  replaceChildren(...nodes) {
    for (const child of [...this.childNodes]) child.remove();
    this.append(...nodes);
  }

  addEventListener(kind, body) { this.listeners.set(kind, [...this.listeners.get(kind) ?? [], body]); }
  removeEventListener(kind, body) { this.listeners.set(kind, (this.listeners.get(kind) ?? []).filter((one) => one !== body)); }

  /** Sends an event to this element, and to those around it. */
  emit(kind, more = {}) {
    let isStopped = false;
    const event = { type: kind, target: this, preventDefault() { event.isPrevented = true; }, stopPropagation() { isStopped = true; }, ...more };
    for (let at = this; at && !isStopped; at = at.parent) for (const body of [...at.listeners.get(kind) ?? []]) body(event);
    return event;
  }

  dispatchEvent({ type }) { return !this.emit(type).isPrevented; }

  focus() {
    const before = document.activeElement;
    if (before === this) return;
    document.activeElement = this;
    before?.emit?.('blur');
  }

  blur() {
    if (document.activeElement !== this) return;
    document.activeElement = document.body;
    this.emit('blur');
  }

  click() { if (!this.disabled) this.emit('click'); }

  /** A person types a text in the place of what is there. */
  write(text) {
    this.focus();
    this.value = text;
    this.emit('input');
  }

  getBoundingClientRect() { return { top: 0, left: 0, right: 0, bottom: 0, width: 0, height: 0 }; }
  getContext() { return new Proxy({ measureText: () => ({ width: 0 }) }, { get: (values, name) => values[name] ?? (() => {}), set: () => true }); }
  scrollIntoView() {}
  select() {}
  showModal() { this.open = true; }
  close() { this.open = false; }
}

function dashed(name) { return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`); }

class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
}

/** Puts elements in the place of the browser's, and an empty page. */
export function definePage(globals = {}) {
  const { documentElement } = document;
  const page = new Element('body');
  define({
    document: {
      documentElement: Object.assign(new Element('html'), { lang: documentElement.lang }), body: page, head: new Element('head'), hidden: false, visibilityState: 'visible',
      createElement: (tag) => new Element(tag), createElementNS: (_, tag) => new Element(tag),
      getElementById: (id) => page.querySelector(`#${id}`), querySelector: (selectors) => page.querySelector(selectors),
      querySelectorAll: (selectors) => page.querySelectorAll(selectors),
      addEventListener: (kind, body) => page.addEventListener(kind, body), removeEventListener: (kind, body) => page.removeEventListener(kind, body),
    },
    window: { addEventListener() {}, scrollTo() {}, scrollY: 0 },
    addEventListener() {}, removeEventListener() {}, scrollTo() {}, scrollBy() {}, innerHeight: 800, isSecureContext: false,
    matchMedia: () => ({ matches: false, addEventListener() {}, removeEventListener() {} }),
    getComputedStyle: () => ({ getPropertyValue: () => '', fontSize: '16px', height: '58px', width: '30px', color: '#000' }),
    requestAnimationFrame: (body) => setTimeout(() => body(performance.now()), 0), cancelAnimationFrame: (timer) => clearTimeout(timer),
    ResizeObserver: Observer, IntersectionObserver: Observer, MutationObserver: Observer,
    ...globals,
  });
  document.activeElement = page;
  return page;
}
