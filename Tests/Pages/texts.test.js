import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import test from 'node:test';
import { load, setLanguages } from './browser.js';

const texts = await load('texts.js');
const ofTakes = await load('takes-texts.js');
const names = Object.keys(texts.catalogues);

/** What stands for a value in a text. */
const values = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

for (const [part, catalogues] of [['texts.js', texts.catalogues], ['takes-texts.js', ofTakes]]) {
  test(`each language has the texts of ${part}, with the same values`, () => {
    for (const name of names) {
      assert.deepEqual(Object.keys(catalogues[name]).sort(), Object.keys(catalogues.en).sort(), name);
      for (const [key, text] of Object.entries(catalogues[name])) assert.deepEqual(values(text), values(catalogues.en[key]), `${name}: ${key}`);
    }
  });
}

test('each text that the pages name is there', async () => {
  const folder = new URL('../../Sources/Library/Console/Pages/', import.meta.url);
  const all = { ...texts.catalogues.en, ...ofTakes.en };
  const missing = [];
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.js'))) {
    const source = await readFile(new URL(file, folder), 'utf8');
    for (const [, key] of source.matchAll(/\bt\('([^']+)'/g)) if (!(key in all)) missing.push(`${file}: ${key}`);
    for (const [, key] of source.matchAll(/\bcounted\([\w.]+, '([^']+)'/g)) {
      missing.push(...['one', 'other'].map((number) => `${key}.${number}`).filter((one) => !(one in all)).map((one) => `${file}: ${one}`));
    }
  }
  assert.deepEqual(missing, []);
});

test('a text has its values, and a language that lacks it has the English one', () => {
  setLanguages('en', ['de-CH']);
  texts.addTexts('en', { 'test.both': '{n} of {all}', 'test.english': 'only {n}' });
  texts.addTexts('de', { 'test.both': '{n} von {all}' });
  assert.equal(texts.t('test.both', { n: 0, all: 3 }), '0 von 3');
  assert.equal(texts.t('test.both', { n: 1 }), '1 von {all}');
  assert.equal(texts.t('test.english', { n: 1 }), 'only 1');
  assert.equal(texts.t('test.none'), 'test.none');
});

test('the language is the one that was chosen, else the first of the browser’s that there is, else English', () => {
  setLanguages('en', ['fr-FR', 'DE', 'en']);
  assert.equal(texts.language(), 'de');
  texts.setLanguage('en');
  assert.equal(texts.language(), 'en');
  setLanguages('en', ['fr', 'es']);
  assert.equal(texts.language(), 'en');
  assert.deepEqual(Object.keys(texts.languageNames), names);
});
