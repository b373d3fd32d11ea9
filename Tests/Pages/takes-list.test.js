import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';
import { definePage, Element } from './elements.js';

definePage();
const { TakesList } = await load('takes-list.js');

const takeOf = (take, more) => ({ take, duration_seconds: 10, starred: false, ...more });
const settled = () => new Promise((resolve) => { setTimeout(resolve, 2); });

/** A list, and its requests. Each waits for `answer`, which is given the takes. */
function makeList() {
  const asked = [];
  const shown = {};
  const list = new TakesList({
    get: (path) => new Promise((resolve) => { asked.push({ path, resolve }); }),
    makeRow: (take) => {
      const row = { element: new Element('li'), link: new Element('a'), update: (changed) => { row.take = changed; }, release() {}, take };
      row.element.append(row.link);
      return row;
    },
    dayOf: () => '', sumOf: () => '', isNewestFirst: () => true, onState: (state) => { shown.state = state; }, onSum: (sum) => { shown.sum = sum; },
  });
  document.body.append(list.element);
  const answer = async (index, takes, total = takes.length) => {
    asked[index].resolve({ takes, next: null, total, total_seconds: 10 * total });
    await settled();
  };
  return { list, asked, shown, answer };
}

test('the sum is that of the last search, also if an earlier answer comes late', async () => {
  const { list, shown, answer } = makeList();
  list.search('q=w');
  list.search('q=wren');
  await answer(1, [takeOf('a')]);
  await answer(0, [takeOf('a'), takeOf('b')]);
  assert.deepEqual([list.stems, shown], [['a'], { state: 'ready', sum: { total: 1, seconds: 10 } }]);
});

test('the sum of a later answer is not replaced by an earlier one', async () => {
  const { list, shown, answer } = makeList();
  list.search('');
  await answer(0, [takeOf('a'), takeOf('b')]);
  list.count();
  list.count();
  await answer(2, [takeOf('a')], 1);
  await answer(1, [takeOf('a')], 2);
  assert.equal(shown.sum.total, 1);
});

test('a page that was on its way when a take changed does not undo the change, nor a removal', async () => {
  const { list, answer } = makeList();
  list.search('');
  await answer(0, [takeOf('a'), takeOf('b'), takeOf('c')]);
  list.refresh();
  await settled();
  list.update(takeOf('a', { starred: true }));
  list.remove('b');
  // The answer is of before.
  list.update(takeOf('b', { starred: true }));
  await answer(1, [takeOf('a', { match: { at_frame: 5 } }), takeOf('b'), takeOf('c')]);
  assert.deepEqual(list.stems, ['a', 'c']);
  assert.deepEqual([list.find('a').starred, list.find('a').match, list.rowOf('a').take.starred], [true, { at_frame: 5 }, true]);
  list.refresh();
  await settled();
  await answer(2, [takeOf('a'), takeOf('b'), takeOf('c')]);
  assert.deepEqual([list.stems, list.find('a').starred], [['a', 'b', 'c'], false]);
});
