import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load, setLanguages } from './browser.js';

const { AnswerOrder, Events, Refusal, api, loadTexts, sentenceOf } = await load('api.js');
await loadTexts('texts');

/** Answers each request, and notes them. */
function answer({ status = 200, body = null, headers = {} }) {
  const requests = [];
  define({ fetch: async (path, options) => {
    requests.push([options.method, path, options.headers?.['Content-Type'] ?? null, options.body ?? null]);
    return new Response(body, { status, headers });
  } });
  return requests;
}

test('a request has its method and its JSON, and its answer is read', async () => {
  const requests = answer({ body: '{"takes":3}' });
  assert.deepEqual(await api.get('/api/library'), { takes: 3 });
  await api.post('/api/deck/stop');
  await api.patch('/api/settings', { changes: {} });
  const file = new Blob(['bytes']);
  await api.put('/api/update', file);
  assert.deepEqual(requests, [
    ['GET', '/api/library', null, null], ['POST', '/api/deck/stop', 'application/json', '{}'],
    ['PATCH', '/api/settings', 'application/json', '{"changes":{}}'], ['PUT', '/api/update', 'application/octet-stream', file],
  ]);
  answer({ status: 204 });
  assert.equal(await api.delete('/api/phones/1'), null);
});

test('a refusal has the kit’s sentence and status', async () => {
  answer({ status: 409, body: '{"detail":"nothing is recorded"}' });
  await assert.rejects(api.post('/api/deck/stop'), (error) => {
    assert.ok(error instanceof Refusal);
    assert.deepEqual([error.status, error.message], [409, 'nothing is recorded']);
    return true;
  });
  answer({ status: 502, body: '<html>' });
  await assert.rejects(api.get('/api/session'), { status: 502, message: /^502/ });
});

test('a refusal is said in the page’s language by its reason, else in the kit’s words', async () => {
  const problem = { detail: 'delete: home is away', reason: 'store-missing', values: { store: 'nas' } };
  const sentences = {};
  for (const name of ['en', 'de', 'ko']) {
    setLanguages(name, [name]);
    sentences[name] = [await sentenceOf(problem), await sentenceOf({ ...problem, reason: 'memo-too-long', values: { most: 4000 } })];
  }
  setLanguages('en', ['en-GB']);
  assert.deepEqual(sentences, {
    en: ['nas may have the take, and the settings no longer name that store. Delete the take on the kit alone.', 'The memo is too long: at most 4,000 bytes are kept. Shorten it.'],
    de: ['nas hat die Aufnahme vielleicht, doch die Einstellungen nennen dieses Ziel nicht mehr. Löschen Sie die Aufnahme nur vom Gerät.', 'Die Notiz ist zu lang: Höchstens 4.000 Bytes sind möglich. Kürzen Sie sie.'],
    ko: ['nas에 테이크가 있을 수 있지만 설정에 그 저장소가 없습니다. 기기에서만 삭제하세요.', '메모가 너무 깁니다. 4,000바이트까지 쓸 수 있습니다. 줄이세요.'],
  });
  // Of a later version, without a value that the text needs, or met by programs alone.
  for (const other of [{ reason: 'something-new' }, { values: {} }, { reason: undefined, values: undefined }]) assert.equal(await sentenceOf({ ...problem, ...other }), problem.detail);
  // A text may have the kit's sentence, whatever that has in brackets.
  assert.equal(await sentenceOf({ reason: 'not-deleted', values: {}, detail: 'discard: {a}' }), 'The take was not deleted (discard: {a}).');
});

test('without an answer, a reader may try again, and a change may have been made', async () => {
  define({ fetch: async () => { throw new TypeError('network'); } });
  await assert.rejects(api.get('/api/session'), { message: 'The kit did not answer. Try again.' });
  await assert.rejects(api.post('/api/deck/record'), { message: /^The kit did not answer\. Whether this was done is not known/ });
  // The connection is lost in the middle of an answer, or the answer is that of a network's own page.
  for (const body of ['{"takes":[{"take', '<html>']) {
    answer({ body });
    await assert.rejects(api.get('/api/takes'), { message: 'The kit did not answer. Try again.' });
  }
});

test('the difference of the clocks is taken from each answer', async () => {
  answer({ body: '{}', headers: { Date: new Date(Date.now() - 60_000).toUTCString() } });
  await api.get('/api/session');
  assert.ok(Math.abs(api.clockDifference - 60_000) < 2000, `${api.clockDifference}`);
  answer({ body: '{}' });
  await api.get('/api/session');
  assert.deepEqual([api.lastDate, api.clockDifference], [null, null]);
});

test('a file has the name that the kit gives it', async () => {
  answer({ body: 'report', headers: { 'Content-Disposition': 'attachment; filename="wren.tar.gz"' } });
  const { name, content } = await api.file('/api/support');
  assert.deepEqual([name, await content.text()], ['wren.tar.gz', 'report']);
});

/** Events of a source that the test drives, by a clock that it moves. */
function drivenEvents() {
  const sources = [];
  const timers = new Map();
  let [now, count] = [0, 0];
  define({
    EventSource: class {
      handlers = {};
      isClosed = false;
      constructor() { sources.push(this); }
      addEventListener(kind, handler) { this.handlers[kind] = handler; }
      close() { this.isClosed = true; }
    },
    setTimeout: (body, delay) => { count += 1; timers.set(count, { body, at: now + delay }); return count; },
    clearTimeout: (id) => timers.delete(id),
  });
  const events = new Events();
  const seen = [];
  const ends = ['status', 'connection'].map((kind) => events.on(kind, (data) => seen.push([kind, data])));
  const pass = (milliseconds) => {
    now += milliseconds;
    for (const [id, { body, at }] of [...timers]) {
      if (at <= now && timers.delete(id)) body();
    }
  };
  events.start();
  return { events, sources, seen, ends, pass };
}

test('events bring their data, and the connection is told once', () => {
  const { events, sources, seen, ends } = drivenEvents();
  const [source] = sources;
  source.handlers.open();
  source.handlers.status({ data: '{"state":"idle"}' });
  ends[0]();
  source.handlers.status({ data: '{"state":"recording"}' });
  events.start();
  assert.deepEqual(seen, [['connection', { isConnected: true }], ['status', { state: 'idle' }]]);
  assert.equal(sources.length, 1);
});

test('a kit that is silent for 20 s is lost, and asked for again', () => {
  const { sources, seen, pass } = drivenEvents();
  sources[0].handlers.open();
  pass(19_000);
  sources[0].handlers.level({ data: '{}' });
  pass(19_000);
  assert.deepEqual(seen, [['connection', { isConnected: true }]]);
  pass(1000);
  assert.deepEqual([sources[0].isClosed, seen.at(-1)], [true, ['connection', { isConnected: false }]]);
  pass(1500);
  assert.equal(sources.length, 2);
  sources[1].handlers.error();
  pass(1500);
  sources[2].handlers.open();
  assert.deepEqual(seen.slice(1), [['connection', { isConnected: false }], ['connection', { isConnected: true }]]);
});

test('events that were stopped stay so', () => {
  const { events, sources, seen, pass } = drivenEvents();
  sources[0].handlers.open();
  events.stop();
  pass(100_000);
  assert.deepEqual([sources.length, sources[0].isClosed, seen], [1, true, [['connection', { isConnected: true }]]]);
  const lost = drivenEvents();
  lost.sources[0].handlers.error();
  lost.events.stop();
  lost.pass(100_000);
  assert.equal(lost.sources.length, 1);
});

test('an answer that a later one has overtaken is not shown', () => {
  const order = new AnswerOrder();
  const [first, second, third] = [order.ask(), order.ask(), order.ask()];
  assert.deepEqual([first(), third(), second(), third()], [true, true, false, true]);
});
