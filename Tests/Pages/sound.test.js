import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load } from './browser.js';

const elements = [];

/** A browser's player that plays when it is asked to, and whose position a test sets. */
class Audio {
  constructor() {
    elements.push(this);
    Object.assign(this, { src: '', currentTime: 0, isPlaying: false, ended: false, readyState: 1 });
  }

  async play() { this.isPlaying = true; }

  pause() { this.isPlaying = false; }

  load() { Object.assign(this, { currentTime: 0, ended: false }); }

  removeAttribute() { this.src = ''; }

  /** Plays to its end. */
  end() {
    Object.assign(this, { isPlaying: false, ended: true });
    this.onended();
  }
}

// A player that is left playing by a failed test does not keep the program running.
const { setInterval } = globalThis;
define({ Audio, HTMLMediaElement: { HAVE_NOTHING: 0 }, setInterval: (...values) => setInterval(...values).unref() });
const { Queue, Sound } = await load('sound.js');

const takeOf = (take, more) => ({ take, number: 1, rate_hz: 1000, frames: 60_000, duration_seconds: 60, files: [`${take}.wav`], counts: { parts: 1 }, ...more });

/** A kit with some takes, and the player of its pages. */
function kit(...stems) {
  const handlers = {};
  const failures = [];
  const posted = [];
  const context = {
    t: (key) => key, fail: (error) => failures.push(error.message),
    events: { on: (kind, handler) => { (handlers[kind] ??= []).push(handler); } },
    api: {
      get: async (path) => {
        const stem = path.split('/').at(-1);
        if (!stems.includes(stem)) throw Object.assign(new Error(`no ${stem}`), { status: stem === 'broken' ? 500 : 404 });
        return { take: takeOf(stem) };
      },
      post: async (path) => { posted.push(path); },
    },
  };
  const sound = new Sound(context);
  const emit = (kind, event) => Promise.all(handlers[kind].map((handler) => handler(event)));
  const playing = () => elements.filter(({ isPlaying }) => isPlaying).map(({ src }) => src.split('/').at(-1));
  return { sound, failures, posted, emit, playing, current: () => elements.find(({ isPlaying }) => isPlaying) };
}

const settled = () => new Promise((resolve) => { setTimeout(resolve, 5); });

test('a take is played and paused in its row, and another one takes its place', async () => {
  const { sound, playing } = kit();
  const queue = new Queue(['a', 'b']);
  sound.toggle(takeOf('a'), queue);
  await settled();
  assert.deepEqual([playing(), sound.stateOf('a'), sound.stateOf('b')], [['a.wav'], 'playing', 'none']);
  sound.toggle(takeOf('a'), queue);
  assert.deepEqual([playing(), sound.stateOf('a')], [[], 'paused']);
  sound.toggle(takeOf('b'), queue);
  await settled();
  assert.deepEqual([playing(), sound.stateOf('a'), sound.stateOf('b')], [['b.wav'], 'none', 'playing']);
  sound.close();
  assert.deepEqual([playing(), sound.player, sound.isShown], [[], null, false]);
});

test('takes of a list follow each other, in the same element, and those that are gone are skipped', async () => {
  const { sound, playing, current } = kit('a', 'c');
  sound.toggle(takeOf('a'), new Queue(['a', 'gone', 'c']));
  await settled();
  const element = current();
  element.end();
  await settled();
  assert.deepEqual([playing(), current() === element], [['c.wav'], true]);
  current().end();
  await settled();
  assert.deepEqual([playing(), sound.stateOf('c')], [[], 'paused']);
  sound.close();
});

test('a take that is played on its page ends, and the next one can be chosen', async () => {
  const { sound, playing, current } = kit('a', 'b');
  const player = sound.playerOf(takeOf('a'), new Queue(['a', 'b']));
  assert.deepEqual([sound.player, sound.isShown], [null, false], 'before it plays it is that of its page alone');
  player.play();
  await settled();
  current().end();
  await settled();
  assert.deepEqual([playing(), sound.stateOf('a')], [[], 'paused']);
  await sound.step(1);
  await settled();
  assert.deepEqual(playing(), ['b.wav']);
  sound.close();
});

test('the page of a take shows its player, and goes on with it', async () => {
  const { sound } = kit();
  const take = takeOf('a');
  sound.toggle(take, new Queue(['a']));
  await settled();
  const player = sound.playerOf(take);
  assert.equal(player, sound.player);
  sound.cover('a');
  assert.equal(sound.isShown, false);
  sound.cover(null);
  sound.leave(player);
  assert.deepEqual([sound.isShown, sound.stateOf('a')], [true, 'playing']);
  sound.close();
});

test('a continued take that does not play has its new length, at the same place', () => {
  const { sound } = kit();
  const player = sound.playerOf(takeOf('a'));
  player.play();
  player.pause();
  player.seek(5000);
  const longer = sound.playerOf(takeOf('a', { frames: 90_000 }));
  assert.deepEqual([longer === player, longer === sound.player, longer.frame, longer.take.frames], [false, true, 5000, 90_000]);
  sound.close();
});

test('back goes to the beginning of a take, and from there to the one before', async () => {
  const { sound, playing, current } = kit('a', 'b');
  sound.toggle(takeOf('b'), new Queue(['a', 'b']));
  await settled();
  current().currentTime = 10;
  sound.previous();
  assert.equal(current().currentTime, 0);
  sound.previous();
  await settled();
  assert.deepEqual(playing(), ['a.wav']);
  current().currentTime = 2;
  sound.previous();
  await settled();
  assert.deepEqual([playing(), current().currentTime], [['a.wav'], 0], 'the first one begins again');
  sound.close();
});

test('a marker that was found is played from a little before it', async () => {
  const { sound, current } = kit();
  sound.toggle(takeOf('a'), new Queue(['a']), 7000);
  await settled();
  assert.equal(current().currentTime, 7);
  sound.close();
});

test('a take is played from a frame, also while it plays', async () => {
  const { sound, playing, current } = kit();
  const queue = new Queue(['a', 'b']);
  for (const [stem, frame] of [['a', 7000], ['a', 3000], ['b', 2000]]) {
    sound.playFrom(takeOf(stem), queue, frame);
    await settled();
    assert.deepEqual([playing(), current().currentTime], [[`${stem}.wav`], frame / 1000]);
  }
  sound.close();
});

test('a deleted take is silent, and one with a new title is shown so', async () => {
  const { sound, playing, emit } = kit('a');
  sound.toggle(takeOf('a', { title: 'old' }), new Queue(['a']));
  await settled();
  await emit('catalog', { what: 'changed', take: 'a' });
  assert.equal(sound.player.take.title, undefined);
  await emit('catalog', { what: 'removed', take: 'a' });
  assert.deepEqual([playing(), sound.player], [[], null]);
});

test('a take that cannot be found says why, and what plays goes on', async () => {
  const { sound, failures, playing } = kit();
  sound.toggle(takeOf('a'), new Queue(['a', 'broken']));
  await settled();
  await sound.step(1);
  assert.deepEqual([failures, playing()], [['no broken'], ['a.wav']]);
  sound.close();
});

test('speed and volume are those of all takes', async () => {
  const { sound, current } = kit();
  sound.playerOf(takeOf('a')).set({ speed: 0.5, volume: 0.25 });
  sound.toggle(takeOf('b'), new Queue(['b']));
  await settled();
  assert.deepEqual([current().playbackRate, current().volume], [0.5, 0.25]);
  sound.close();
});

test('playback on the kit is followed while nothing plays here, and ends there', async () => {
  const { sound, emit } = kit('next');
  const player = sound.playerOf(takeOf('a'), new Queue(['a', 'next']), true);
  player.where = 'kit';
  sound.toggle(takeOf('b'), new Queue(['b']));
  await settled();
  await emit('status', { state: 'playing', take: 'a' });
  assert.deepEqual([player.isPlaying, sound.stateOf('b')], [false, 'playing']);
  sound.toggle(takeOf('b'), new Queue(['b']));
  await emit('status', { state: 'playing', take: 'a' });
  assert.deepEqual([player.isPlaying, sound.stateOf('a')], [true, 'playing']);
  await emit('status', { state: 'idle', take: null });
  await settled();
  assert.equal(sound.stateOf('a'), 'paused', 'who stopped it there does not want the next one');
  sound.close();
});
