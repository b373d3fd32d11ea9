import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import test from 'node:test';
import { load, setLanguages } from './browser.js';
import { callsOf, keysIn, literalsOf, matcher, propertiesOf } from './sources.js';

const texts = await load('texts.js');
const { loadTexts } = await load('api.js');
const pages = new URL('../../Sources/Library/Console/Pages/', import.meta.url);
const files = (await readdir(pages)).filter((name) => name.endsWith('.js'));

/** The texts of each part, by language. */
const parts = {};
for (const file of files) {
  const [, part, language] = /^(texts|[a-z]+-texts)-([a-z]{2})\.js$/.exec(file) ?? [];
  if (part) (parts[part] ??= {})[language] = (await load(file)).default;
}
/** The scripts that show texts. */
const sources = Object.fromEntries(await Promise.all(files.filter((file) => !/texts-[a-z]{2}\.js$/.test(file))
  .map(async (file) => [file, await readFile(new URL(file, pages), 'utf8')])));
const { 'problem-texts': problems, ...shown } = parts;
const english = Object.assign({}, ...Object.values(shown).map(({ en }) => en));

const values = (text) => [...new Set(texts.valuesOf(text))].sort();

/** Whether a text is one form of a sentence with a number: `KEY.one` and `KEY.other`. */
const baseOf = (key, catalogue) => {
  const base = key.replace(/\.(one|other)$/, '');
  return base !== key && `${base}.one` in catalogue && `${base}.other` in catalogue ? base : null;
};

/** The keys that a language must have, from the English ones. */
function wanted(language) {
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  return (catalogue) => [...new Set(Object.keys(catalogue).flatMap((key) => {
    const base = baseOf(key, catalogue);
    return base ? forms.map((form) => `${base}.${form}`) : [key];
  }))].sort();
}

for (const [part, catalogues] of Object.entries(parts)) {
  test(`each language of ${part} has the English texts, with their values and its own plurals`, () => {
    for (const [language, catalogue] of Object.entries(catalogues)) {
      assert.deepEqual(Object.keys(catalogue).sort(), wanted(language)(catalogues.en), language);
      for (const [key, text] of Object.entries(catalogue)) {
        const model = catalogues.en[key] ?? catalogues.en[key.replace(/\.[a-z]+$/, '.other')];
        assert.deepEqual(values(text), values(model), `${language}: ${key}`);
        assert.ok(text.trim(), `${language}: ${key} is empty`);
      }
    }
  });
}

test('a part is loaded in the page’s language where it is there, and no other part is missing', async () => {
  for (const name of Object.keys(texts.languageNames)) {
    setLanguages(name, [name]);
    for (const part of Object.keys(parts)) {
      assert.ok(files.includes(texts.moduleOf(part)), texts.moduleOf(part));
      assert.equal(texts.languageOf(part), name in parts[part] ? name : 'en', `${part} in ${name}`);
    }
  }
  for (const part of ['texts', 'takes-texts', 'problem-texts']) assert.deepEqual(Object.keys(parts[part]).sort(), Object.keys(texts.languageNames).sort(), part);
  setLanguages('en', ['en-GB']);
});

test('each text that the scripts name is there, with its values, and each is named', () => {
  const [missing, without, used] = [[], [], new Set()];
  const all = Object.keys(english);
  for (const [file, source] of Object.entries(sources)) {
    const { strings, templates } = literalsOf(source);
    const patterns = templates.map(matcher).filter(Boolean);
    for (const key of all) {
      const names = [key, baseOf(key, english)].filter(Boolean);
      if (names.some((name) => strings.has(name) || patterns.some((pattern) => pattern.test(name)))) used.add(key);
    }
    for (const [key, given] of callsOf(source, 't')) {
      const names = propertiesOf(given);
      for (const one of keysIn(key)) {
        // A template matches more keys than it can be.
        const found = all.filter((name) => (one instanceof RegExp ? one.test(name) : one === name));
        if (!found.length) missing.push(`${file}: ${one}`);
        else if (names && !found.some((name) => values(english[name]).every((value) => names.includes(value)))) without.push(`${file}: ${one} (${names})`);
      }
    }
    for (const [, key] of callsOf(source, 'counted')) {
      for (const one of keysIn(key)) {
        const bases = all.map((name) => baseOf(name, english)).filter((base) => base && (one instanceof RegExp ? one.test(base) : base === one));
        if (!bases.length) missing.push(`${file}: ${one}.other`);
      }
    }
  }
  assert.deepEqual(missing, [], 'missing');
  assert.deepEqual(without, [], 'without a value');
  assert.deepEqual(all.filter((key) => !used.has(key)), [], 'in no use');
});

/** The names of all settings, from the schema: tokens of sections, keys and braces. */
async function settings() {
  const source = await readFile(new URL('../../Sources/Common/Settings/SettingsSchema.swift', import.meta.url), 'utf8');
  const [sections, names] = [[], []];
  let next = null;
  for (const [token, section, key] of source.slice(source.indexOf('var file')).matchAll(/Section\("(\w+)"\)|Key\(\s*"(\w+)"|[{}]/g)) {
    if (section) next = section;
    else if (key) names.push([...sections, key].filter(Boolean).join('.'));
    else if (token === '{') { sections.push(next); next = null; } else sections.pop();
  }
  return names;
}

test('each setting has a name, and what it is for unless the name says it, and no other has one', async () => {
  const names = await settings();
  assert.ok(names.length > 60 && names.includes('panel.buttons.record') && names.includes('outbox.rclone.config'), `${names.length}`);
  const known = (kind) => Object.keys(english).filter((key) => key.startsWith(`${kind}.`)).map((key) => key.slice(kind.length + 1)).sort();
  assert.deepEqual(known('key'), names.toSorted());
  const isSaid = (name) => /^(outbox\.\w+|panel\.(buttons|leds))\.(?!all)/.test(name);
  assert.deepEqual(known('why'), names.filter((name) => !isSaid(name)).toSorted());
});

test('the reasons of the kit’s refusals have texts with their values, and no others have', async () => {
  const folder = new URL('../../Sources/', import.meta.url);
  const found = new Map();
  for (const name of (await readdir(folder, { recursive: true })).filter((one) => one.endsWith('.swift'))) {
    const source = await readFile(new URL(name, folder), 'utf8');
    for (const [, reason, list = ''] of source.matchAll(/\bReason\(\s*"([a-z0-9-]+)"\s*(?:,\s*(\[[^\]]*\]))?\s*\)/g)) {
      const names = [...list.matchAll(/"(\w+)":/g)].map(([, value]) => value).sort();
      if (found.has(reason)) assert.deepEqual(names, found.get(reason), reason);
      found.set(reason, names);
    }
  }
  assert.deepEqual(Object.keys(problems.en).sort(), [...found.keys()].sort());
  for (const [reason, text] of Object.entries(problems.en)) assert.deepEqual(values(text).filter((name) => name !== 'detail'), found.get(reason), reason);
});

test('a text has its values, and a text that is not there is its key', async () => {
  texts.addTexts({ 'test.both': '{n} of {all}' });
  assert.equal(texts.t('test.both', { n: 0, all: 3 }), '0 of 3');
  assert.equal(texts.t('test.both', { n: 1 }), '1 of {all}');
  assert.equal(texts.t('test.none'), 'test.none');
});

test('a number has the form and the digits of the language', async () => {
  const count = async (lang, languages) => {
    setLanguages(lang, languages);
    const { addTexts, counted, t } = await load('texts.js', lang);
    addTexts((await load(`takes-texts-${lang}.js`)).default);
    return [1, 2, 1234].map((n) => counted(t, 'takes.count', n));
  };
  assert.deepEqual(await count('de', ['de-DE']), ['1 Aufnahme', '2 Aufnahmen', '1.234 Aufnahmen']);
  assert.deepEqual(await count('ko', ['ko-KR']), ['테이크 1개', '테이크 2개', '테이크 1,234개']);
  setLanguages('en', ['en-GB']);
  await loadTexts('takes-texts');
  assert.deepEqual([1, 2, 1234].map((n) => texts.counted(texts.t, 'takes.count', n)), ['1 take', '2 takes', '1,234 takes']);
});

test('some words are fixed in each language', () => {
  const fixed = {
    'kit.eject': ['Eject USB stick', 'USB-Stick auswerfen'],
    'pair.with': ['Pair with password', 'Mit Passwort koppeln', '비밀번호로 페어링'],
    'queue.done': ['everything uploaded', 'alles hochgeladen', '모두 업로드됨'],
    'deck.note': ['Marker note', 'Notiz zur Marke', '마커 메모'],
    'spectrum.size': ['FFT size', 'FFT-Größe', 'FFT 크기'],
  };
  for (const [key, words] of Object.entries(fixed)) {
    const { en, de, ko } = Object.values(shown).find((catalogues) => key in catalogues.en);
    assert.deepEqual([en, de, ko].filter(Boolean).map((catalogue) => catalogue[key]), words);
  }
});

test('the language is the one that was chosen, else the first of the browser’s that there is, else English', () => {
  setLanguages('en', ['fr-FR', 'DE', 'en']);
  assert.equal(texts.language(), 'de');
  texts.setLanguage('ko');
  assert.equal(texts.language(), 'ko');
  setLanguages('en', ['fr', 'es']);
  assert.equal(texts.language(), 'en');
  setLanguages('de', ['en-GB', 'de-AT', 'de']);
  texts.setLanguage('de');
  assert.equal(texts.locale(), 'de-AT');
  setLanguages('en', ['en-GB']);
});
