import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load } from './browser.js';
import { definePage, Element } from './elements.js';

definePage();
define({ fetch: async () => new Response('', { status: 404 }) });
const { loadTexts } = await load('api.js');
for (const part of ['texts', 'takes-texts']) await loadTexts(part);
const { t } = await load('texts.js');
const { takesPage } = await load('takes.js');

const takeOf = (number) => ({
  take: `heron07-000${number}_20261121_061811`, number, kit: 'heron07', rate_hz: 48_000, frames: 480_000, channels: 1, duration_seconds: 10, format: 'S16',
  started: '2026-11-21T06:18:11Z', clock: 'ntp', starred: false, tags: [], memo: null, title: null, upload: 'none', place: 'here', revision: 1, peak_dbfs: -number,
});
const settled = () => new Promise((resolve) => { setTimeout(resolve, 5); });

/** The page of three takes. `asked` has the queries of the list, and `patched` the changes of takes. */
async function open({ right = 'all' } = {}) {
  const takes = [1, 2, 3].map(takeOf);
  const seen = { asked: [], patched: [] };
  const context = {
    t, status: () => null, session: () => ({ right }), say() {}, succeed() {}, fail: (error) => { throw error; }, places: { sound: new Element('div') },
    events: { on: () => () => {} },
    api: {
      get: async (path) => {
        if (path === '/api/library') return { kits: ['heron07'] };
        seen.asked.push(new URL(path, 'http://kit').searchParams);
        return { takes, next: null, total: 3, total_seconds: 30 };
      },
      patch: async (path, changes) => {
        seen.patched.push([path.split('-')[1].slice(0, 4), changes]);
        return { take: { ...takes.find(({ take }) => path.endsWith(take)), ...changes } };
      },
    },
  };
  const root = new Element('div');
  document.body.append(root);
  const end = takesPage(root, context);
  await settled();
  const close = () => {
    end();
    root.remove();
  };
  const find = (text) => root.querySelectorAll('button').find((one) => one.textContent === text);
  const press = async (button) => {
    button.click();
    await settled();
  };
  return { root, seen, close, find, press };
}

test('the conditions that people look for most have a button each, which shows whether it is on', async () => {
  const { seen, close, find, press } = await open();
  const names = ['Last night', 'Loudest', 'Longest'];
  const pressed = () => names.map((name) => find(name).getAttribute('aria-pressed') === 'true');
  const asked = () => {
    const query = seen.asked.at(-1);
    return [query.has('since') && query.has('until'), query.get('sort')];
  };
  assert.deepEqual([pressed(), asked()], [[false, false, false], [false, null]]);
  const steps = [];
  for (const name of ['Last night', 'Loudest', 'Longest', 'Last night', 'Longest']) {
    await press(find(name));
    steps.push([pressed(), asked(), find('Filter · 2') ? 2 : find('Filter · 1') ? 1 : 0]);
  }
  assert.deepEqual(steps, [
    [[true, false, false], [true, null], 1],
    [[true, true, false], [true, 'loudest'], 2],
    // The list has one order.
    [[true, false, true], [true, 'longest'], 2],
    [[false, false, true], [false, 'longest'], 1],
    [[false, false, false], [false, null], 0],
  ]);
  close();
});

test('a condition of the sheet is shown by its button too', async () => {
  const { close, find, press } = await open();
  await press(find('Filter'));
  const [sort, when] = document.body.querySelectorAll('dialog select');
  sort.value = 'loudest';
  sort.emit('change');
  when.value = 'night';
  when.emit('change');
  assert.deepEqual(['Last night', 'Loudest', 'Longest'].map((name) => find(name).getAttribute('aria-pressed')), ['true', 'true', 'false']);
  document.body.querySelector('dialog').remove();
  await press(find('Last night'));
  await press(find('Loudest'));
  close();
});

test('while takes are selected, each row has a button for its title', async () => {
  const { root, seen, close, press } = await open();
  const rows = () => root.querySelectorAll('.take-row');
  const ends = () => rows().map((row) => row.lastChild.getAttribute('aria-label'));
  const stars = ['Star for “Take 1”', 'Star for “Take 2”', 'Star for “Take 3”'];
  assert.deepEqual(ends(), stars);
  await press(root.querySelector('.takes-select'));
  assert.deepEqual(ends(), Array(3).fill('Change the title'));
  for (const [index, title] of [[0, 'wren'], [2, 'owl']]) {
    await press(rows()[index].lastChild);
    const form = rows()[index].querySelector('.title-form');
    form.querySelector('input').write(title);
    form.emit('submit');
    await settled();
  }
  assert.deepEqual(seen.patched, [['0001', { title: 'wren' }], ['0003', { title: 'owl' }]]);
  assert.deepEqual(rows().map((row) => row.querySelector('.take-title').textContent), ['wren', 'Take 2', 'owl']);
  assert.equal(root.querySelector('.title-form'), null);
  await press(root.querySelector('.takes-select'));
  assert.deepEqual(ends(), ['Star for “wren”', stars[1], 'Star for “owl”']);
  close();
});

test('a phone that may only look changes no title', async () => {
  const { root, close, press } = await open({ right: 'look' });
  await press(root.querySelector('.takes-select'));
  await press(root.querySelector('.take-row').lastChild);
  assert.deepEqual([root.querySelector('.take-row').lastChild.disabled, root.querySelector('.title-form')], [true, null]);
  close();
});
