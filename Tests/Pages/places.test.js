import assert from 'node:assert/strict';
import test from 'node:test';
import { define, load } from './browser.js';

/** An element, as far as the list of markers uses it. `type` is what a person's keys do. */
class Element {
  children = [];
  parent = null;
  listeners = {};
  attributes = {};
  #typed = null;
  #isChanged = false;

  constructor(tag) { this.tag = tag; }

  get dataset() { return { key: this.attributes['data-key'] }; }
  get defaultValue() { return this.attributes.value ?? ''; }
  get value() { return this.#typed ?? this.defaultValue; }
  set value(text) { this.#typed = text; }

  setAttribute(name, value) { this.attributes[name] = String(value); }
  addEventListener(kind, body) { this.listeners[kind] = body; }
  matches(tag) { return this.tag === tag; }
  contains(element) { return element === this || (element?.parent ? this.contains(element.parent) : false); }

  append(...children) {
    for (const child of children) if (child instanceof Element) child.parent = this;
    this.children.push(...children);
  }

  replaceChildren(...children) {
    if (document.activeElement !== this && this.contains(document.activeElement)) document.activeElement = document.body;
    for (const child of this.children) child.parent = null;
    this.children = [];
    this.append(...children);
  }

  /** Those with a key. */
  querySelectorAll() {
    const elements = this.children.filter((child) => child instanceof Element);
    return elements.flatMap((child) => [...(child.dataset.key ? [child] : []), ...child.querySelectorAll()]);
  }

  focus() { document.activeElement = this; }

  blur() {
    document.activeElement = document.body;
    if (this.#isChanged) this.listeners.change();
    this.#isChanged = false;
  }

  type(text) {
    this.value += text;
    this.#isChanged = true;
    this.listeners.input();
  }
}

let beforeUnload = () => {};
define({
  addEventListener() {}, removeEventListener() {}, window: { addEventListener: (_, body) => { beforeUnload = body; } },
  document: { documentElement: { lang: 'en' }, body: new Element('body'), createElement: (tag) => new Element(tag) },
});
document.activeElement = document.body;
const { TakePlaces } = await load('take-notes.js');

let count = 0;

/** A list of a new take's markers, and the changes that it saves. Each waits for `answer`, which is given a failure or nothing. */
const listOf = (...markers) => listIn(`take-${count += 1}`, ...markers);

function listIn(take, ...markers) {
  document.activeElement = document.body;
  const saved = [];
  const answers = [];
  const places = new TakePlaces({ take, rate_hz: 1000 }, {
    t: (key) => key, mayChange: true, frame: () => 500, onSeek() {},
    save: (changes) => new Promise((resolve) => { saved.push(changes); answers.push((failure = null) => resolve(failure)); }),
  });
  places.show(markers);
  return {
    places, saved, take,
    answer: async (failure) => {
      answers.shift()(failure);
      await new Promise(setImmediate);
    },
    notes: () => places.list.querySelectorAll().filter((element) => element.tag === 'input').map(({ value }) => value),
    note: (frame) => places.list.querySelectorAll().find(({ dataset }) => dataset.key === `note ${frame}`),
  };
}

const settled = () => new Promise(setImmediate);
const focused = () => document.activeElement.dataset.key;

/** Whether the browser asks before the page is closed. */
function asksBefore() {
  let isAsked = false;
  beforeUnload({ preventDefault() { isAsked = true; } });
  return isAsked;
}

test('a note that was not saved when its take was left is kept, and saved when the take is opened again', async () => {
  const { places, saved, answer, note, take } = listOf({ at_frame: 100, note: 'wren' }, { at_frame: 300 });
  assert.equal(asksBefore(), false);
  note(100).focus();
  note(100).type(' sings');
  assert.deepEqual([places.isUnsaved, saved, asksBefore(), places.close()], [true, [], true, true]);
  note(300).focus();
  note(300).type('heron');
  note(300).blur();
  await settled();
  // It is on its way. Its failure is told once it is known.
  assert.equal(places.close(), false);
  await answer(new Error('lost'));
  assert.equal(places.close(), true);
  const later = listIn(take, { at_frame: 100, note: 'wren' }, { at_frame: 300 });
  assert.deepEqual(later.notes(), ['wren sings', 'heron']);
  later.places.saveAgain();
  await settled();
  await later.answer();
  await later.answer();
  assert.deepEqual(later.saved, [{ set: [{ at_frame: 100, note: 'wren sings' }] }, { set: [{ at_frame: 300, note: 'heron' }] }]);
  assert.deepEqual([later.places.isUnsaved, later.places.close(), asksBefore()], [false, false, false]);
});

test('a note that is being written is not saved yet, and one as it was is not unsaved', async () => {
  const { places, saved, note } = listOf({ at_frame: 100, note: 'wren' });
  note(100).focus();
  note(100).type(' sings');
  places.saveAgain();
  await settled();
  assert.deepEqual([saved, places.isUnsaved], [[], true]);
  note(100).value = '';
  note(100).type('wren');
  assert.equal(places.isUnsaved, false);
  note(100).type('s');
  places.giveUp();
  assert.deepEqual([places.isUnsaved, places.close(), asksBefore()], [false, false, false]);
});

test('the note of a new marker gets the focus, also if an older answer without it comes first', async () => {
  const { places, saved, answer, note } = listOf({ at_frame: 100 });
  places.add();
  await settled();
  assert.deepEqual(saved, [{ set: [{ at_frame: 500, note: null }] }]);
  places.show([{ at_frame: 100 }]);
  assert.equal(focused(), undefined);
  places.show([{ at_frame: 100 }, { at_frame: 500 }]);
  assert.equal(focused(), 'note 500');
  note(500).type('wren');
  await answer();
  places.show([{ at_frame: 100 }, { at_frame: 500 }]);
  assert.deepEqual([focused(), note(500).value], ['note 500', 'wren']);
});

test('text that is typed into another note meanwhile is not lost for it', async () => {
  const { places, answer, note } = listOf({ at_frame: 100 });
  places.add();
  await settled();
  note(100).focus();
  note(100).type('heron');
  places.show([{ at_frame: 100 }, { at_frame: 500 }]);
  await answer();
  assert.deepEqual([focused(), note(100).value], ['note 100', 'heron']);
});

test('a note that is being edited is saved before a marker is set', async () => {
  const { places, saved, answer, note } = listOf({ at_frame: 100 });
  note(100).focus();
  note(100).type('heron');
  places.add({ at_frame: 100, end_frame: 200 });
  await settled();
  assert.deepEqual(saved, [{ set: [{ at_frame: 100, note: 'heron' }] }]);
  places.show([{ at_frame: 100, note: 'heron' }]);
  await answer();
  assert.deepEqual(saved.slice(1), [{ set: [{ at_frame: 100, end_frame: 200, note: 'heron' }] }]);
});

test('a note keeps what its marker became while it was written', async () => {
  const { places, saved, note } = listOf({ at_frame: 100 });
  note(100).focus();
  note(100).type('song');
  places.show([{ at_frame: 100, end_frame: 200, low_hz: 10, high_hz: 20 }]);
  note(100).blur();
  await settled();
  assert.deepEqual(saved, [{ set: [{ at_frame: 100, end_frame: 200, low_hz: 10, high_hz: 20, note: 'song' }] }]);
});

test('a note that could not be saved stays in the list, and is saved again; a removed marker stays removed', async () => {
  const { places, saved, answer, notes, note } = listOf({ at_frame: 100, note: 'wren' }, { at_frame: 300 });
  for (const [frame, text] of [[100, ' sings'], [300, 'heron']]) {
    note(frame).focus();
    note(frame).type(text);
    note(frame).blur();
    await settled();
    await answer(new Error('lost'));
  }
  assert.equal(places.isUnsaved, true);
  places.show([{ at_frame: 100, note: 'wren' }]);
  assert.deepEqual(notes(), ['wren sings']);
  places.saveAgain();
  await settled();
  assert.deepEqual(saved.slice(2), [{ set: [{ at_frame: 100, note: 'wren sings' }] }]);
  places.show([{ at_frame: 100, note: 'wren sings' }]);
  await answer();
  assert.deepEqual([places.isUnsaved, notes()], [false, ['wren sings']]);
});
