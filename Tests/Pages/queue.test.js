import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './browser.js';

const { Queue, queueFrom, restOf } = await load('sound.js');

/** A kit with pages of takes by their keys, and the paths that were requested. */
function kit(pages) {
  const paths = [];
  const get = async (path) => {
    paths.push(path);
    const { stems, next } = pages[new URL(path, 'http://kit').searchParams.get('after') ?? ''];
    return { takes: stems.map((take) => ({ take })), next };
  };
  return { get, paths };
}

test('a queue goes forward and back, and ends', async () => {
  const queue = new Queue(['a', 'b', 'c']);
  assert.deepEqual([await queue.step('a', 1), await queue.step('b', -1), await queue.step('a', -1), await queue.step('c', 1)], ['b', 'a', null, null]);
  assert.deepEqual([await queue.step('other', 1), queue.has('b'), queue.has('other')], [null, true, false]);
});

test('the rest of a list is fetched when its loaded takes end, in its order, and once', async () => {
  const { get, paths } = kit({ '9:1': { stems: ['c'], next: '7:1' }, '7:1': { stems: ['c', 'd'], next: null } });
  const queue = new Queue(['a', 'b'], restOf(get, 'sort=loudest', '9:1'));
  assert.equal(await queue.step('a', 1), 'b');
  assert.deepEqual(paths, []);
  assert.deepEqual([await queue.step('b', 1), await queue.step('c', 1), await queue.step('d', 1), await queue.step('c', 1)], ['c', 'd', null, 'd']);
  assert.deepEqual(paths, ['/api/takes?sort=loudest&limit=50&after=9%3A1', '/api/takes?sort=loudest&limit=50&after=7%3A1']);
});

test('a page without new takes is passed over', async () => {
  const { get } = kit({ 1: { stems: ['a'], next: '2' }, 2: { stems: ['b'], next: null } });
  assert.equal(await new Queue(['a'], restOf(get, '', '1')).step('a', 1), 'b');
});

test('older takes follow one that was opened by itself, and newer ones are before it', async () => {
  const paths = [];
  const get = async (path) => {
    paths.push(path);
    return { takes: (path.includes('since') ? ['a', 'newer', 'newest'] : ['older']).map((take) => ({ take })), next: null };
  };
  const queue = queueFrom({ take: 'a', started: '1970-01-01T00:00:07Z', started_corrected: '2026-11-27T05:30:58Z' }, get);
  assert.deepEqual([await queue.step('a', 1), await queue.step('older', -1), await queue.step('a', -1), await queue.step('newer', -1)],
    ['older', 'a', 'newer', 'newest']);
  assert.deepEqual([await queue.step('newest', -1), await queue.step('newest', 1), await queue.step('older', 1)], [null, 'newer', null]);
  assert.deepEqual(paths, ['/api/takes?until=2026-11-27T05%3A30%3A58Z&limit=50', '/api/takes?since=2026-11-27T05%3A30%3A58Z&sort=oldest&limit=50']);
});
