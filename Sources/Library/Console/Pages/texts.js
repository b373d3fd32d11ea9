// The page's language and its texts. Each part of the page has a module of texts in each language, `PART-LANGUAGE.js`, and only those of one
// language are loaded. `{name}` in a text stands for a value.

/** The available languages, by their own names. */
export const languageNames = { en: 'English', de: 'Deutsch', ko: '한국어' };

/** The parts that a language lacks. They are in English. */
const untranslated = { ko: ['kit-texts'] };

/** The page's language: the chosen one, else the browser's first available one, else English. */
export function language() {
  const chosen = localStorage.getItem('language');
  const wanted = [chosen, ...navigator.languages.map((name) => name.slice(0, 2).toLowerCase())];
  return wanted.find((name) => name in languageNames) ?? 'en';
}

/** The page's language for `Intl`, in the regional form that the browser prefers. */
export function locale() {
  const name = language();
  return navigator.languages.find((one) => one.toLowerCase().startsWith(name)) ?? name;
}

/** Stores the language in this browser. It applies once the page is loaded again. */
export function setLanguage(name) { localStorage.setItem('language', name); }

/** The language of a part's texts. */
export const languageOf = (part) => (untranslated[language()]?.includes(part) ? 'en' : language());

/** The module with a part's texts. */
export const moduleOf = (part) => `${part}-${languageOf(part)}.js`;

const texts = {};

// Requests the texts of all pages while the other modules are still on their way. A top-level await is avoided, because Safari evaluates a
// module too early if two others wait for it (WebKit bug 242740).
import(`./${moduleOf('texts')}`).catch(() => {});

/** Adds the texts of a part of the page. */
export function addTexts(more) { Object.assign(texts, more); }

/** The names of the values in a text. */
export const valuesOf = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

/** Inserts values into a text. */
export function filled(text, values) { return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole); }

/** A text with its values inserted. */
export function t(key, values = {}) { return filled(texts[key] ?? key, values); }

const plurals = new Intl.PluralRules(locale());

/** A sentence with a number `n`: `KEY.one`, `KEY.other`, or whatever form the language has for it. */
export function counted(t, key, n) {
  return t(`${key}.${plurals.select(n)}`, { n: n.toLocaleString(locale()) });
}
