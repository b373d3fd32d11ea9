// The fields of settings, and the form of a group.
import { button, choices, h } from './dom.js';
import {
  defaultText, isSame, joinedHours, kindOf, quantityText, readChannels, readHours, readNumber, scaleOf, storesOf, textOr, unitOf, valueText,
} from './settings-values.js';

// The controls of settings, one for each kind of value. A control reads a value as the file has it, or throws an error with a sentence.

/** The alternatives that are words. Capital letters are a placeholder. */
const wordsOf = (entry) => entry.allowed.map((text) => /^"([a-z-]+)"$/.exec(text)?.[1]).filter(Boolean);

const numberInput = (name, entry) => h('input', {
  type: 'number', step: 'any', min: entry.least * scaleOf(name), max: entry.most * scaleOf(name), class: 'set-number',
  // The keyboard of numbers has no minus on some phones.
  inputmode: entry.least < 0 ? null : 'decimal',
});

/** The text of an input of numbers. The browser shows text that is no number, and hides it from the page. */
function typed(input, t) {
  if (input.validity.badInput) throw new Error(t('field.number'));
  return input.value;
}

const isOneOf = (options, value) => options.some(([key]) => key === value);

/** A list with a further choice, which opens an input for any value. */
function listOr(options, input, t, unit = '') {
  const other = h('span', { class: 'set-other', hidden: true }, input, unit && h('span', {}, unit));
  const list = choices([...options, ['…', t('field.other')]], '', (value) => { other.hidden = value !== '…'; });
  return {
    element: h('span', { class: 'set-control' }, list, other), main: list,
    isOther: () => list.value === '…',
    value: () => list.value,
    show(value, isOther) {
      list.value = isOther ? '…' : value;
      other.hidden = !isOther;
    },
    /** Puts other choices in the list, and keeps the chosen one. */
    offer(more) {
      const { value } = list;
      for (const [key, text] of more) {
        const known = [...list.options].find((option) => option.value === key);
        if (known) known.textContent = text;
        else list.insertBefore(h('option', { value: key }, text), list.lastChild);
      }
      list.value = value;
    },
  };
}

/** Rows of two times. */
function timeRows(t, isMany) {
  const rows = h('div', { class: 'hours' });
  const add = (from, until) => {
    const time = (value, key) => h('input', { type: 'time', value, 'aria-label': t(key) });
    const row = h('div', { class: 'hours-row' }, time(from, 'field.from'), '–', time(until, 'field.until'),
      isMany ? button('×', () => { row.remove(); more.focus(); }, { 'aria-label': t('field.hours.remove') }) : null);
    rows.append(row);
    return row;
  };
  const more = button(t('field.hours.add'), () => add('05:00', '07:00').querySelector('input').focus());
  return {
    element: h('div', {}, rows, isMany ? more : null),
    show(hours) {
      rows.replaceChildren();
      for (const text of hours.length ? hours : ['05:00-07:00']) {
        const [from, until] = text.replace('24:00', '00:00').split('-');
        add(from, until);
      }
    },
    read: () => [...rows.children].map((row) => [...row.querySelectorAll('input')].map(({ value }) => value)),
  };
}

/** The controls by the kind of a value. Each has its element, the part that has the focus, `read` and `show`. */
const controls = {
  fixed(name, entry, { t }) {
    const text = h('span', {});
    return { element: text, read: () => entry.value, show: (value) => { text.textContent = valueText(name, value, t); } };
  },
  text(name, entry) {
    const input = h('input', { type: 'text', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', size: '24' });
    return { element: input, read: () => input.value.trim() || undefined, show: (value) => { input.value = value ?? ''; } };
  },
  toggle(name, entry) {
    const input = h('input', { type: 'checkbox' });
    return { element: input, read: () => input.checked, show: (value) => { input.checked = value === true; } };
  },
  choice(name, entry, { t, kit }) {
    const isNumber = typeof entry.default === 'number';
    const read = (text) => (isNumber ? Number(text) : text);
    const isOffered = (value) => name !== 'power.governor' || !kit || ['keep', entry.value, ...kit.governors].includes(value);
    const list = choices(entry.values.filter(isOffered).map((value) => [value, valueText(name, read(value), t)]), '', () => {});
    return { element: list, read: () => (list.value === '' ? undefined : read(list.value)), show: (value) => { list.value = value ?? ''; } };
  },
  number(name, entry, { t }) {
    const input = numberInput(name, entry);
    const unit = unitOf(name);
    const read = () => readNumber(name, entry, typed(input, t), t);
    const shown = (value) => { input.value = typeof value === 'number' ? Number((value * scaleOf(name)).toPrecision(12)) : ''; };
    const words = wordsOf(entry);
    if (!words.length) {
      return { element: h('span', { class: 'set-control' }, input, unit && h('span', {}, unit)), main: input, read, show: shown };
    }
    const list = listOr(words.map((word) => [word, valueText(name, word, t)]), input, t, unit);
    return {
      ...list,
      read() {
        if (!list.isOther()) return list.value();
        const number = read();
        if (number === undefined) throw new Error(t('field.number'));
        return number;
      },
      show(value) {
        list.show(value, typeof value === 'number');
        shown(value);
      },
    };
  },
  zone(name, entry, { t }) {
    const { element: input, read, show } = controls.text(name, entry);
    const zones = Intl.supportedValuesOf?.('timeZone') ?? [];
    input.setAttribute('list', 'zones');
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const fill = own && button(t('settings.phoneZone', { zone: own }), () => {
      input.value = own;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
    const list = h('datalist', { id: 'zones' }, ...zones.map((zone) => h('option', { value: zone })));
    return { element: h('span', { class: 'set-control' }, input, list, fill || null), main: input, read, show };
  },
  /** The cards of the kit are listed once they are known. */
  card(name, entry, context) {
    const { t, cards } = context;
    const { element: input } = controls.text(name, entry);
    const list = listOr([['auto', valueText(name, 'auto', t)]], input, t);
    const known = (value) => value === 'auto' || [...list.main.options].some((option) => option.value === value);
    cards().then((found) => list.offer(found.filter((card) => (name === 'capture.card' ? card.combinations : card.playback_combinations)?.length)
      .map((card) => [card.id, [card.name, card.id].filter(Boolean).join(', ')])));
    return {
      ...list,
      read: () => (list.isOther() ? input.value.trim() || undefined : list.value()),
      show(value = 'auto') {
        if (!known(value)) list.offer([[value, value]]);
        list.show(value, false);
        input.value = value === 'auto' ? '' : value;
      },
    };
  },
  rate(name, entry, context) {
    const field = controls.number(name, entry, context);
    const readOne = (value) => (/^\d+$/.test(value) ? Number(value) : value);
    context.cards().then((found) => {
      const rates = [...new Set(found.flatMap(({ combinations }) => (combinations ?? []).flatMap(({ rates_hz: rates }) => rates)))];
      field.offer(rates.sort((a, b) => a - b).map((rate) => [String(rate), quantityText(name, rate)]));
    });
    return {
      ...field,
      read: () => (field.isOther() ? field.read() : readOne(field.value())),
      show(value) {
        field.show(value);
        if (typeof value !== 'number') return;
        field.offer([[String(value), quantityText(name, value)]]);
        field.main.value = String(value);
        field.main.dispatchEvent(new Event('change'));
      },
    };
  },
  channels(name, entry, { t }) {
    const input = h('input', { type: 'text', size: '8', autocomplete: 'off' });
    const modes = ['native', 'live', 'first', 'these'];
    const hide = (mode) => { input.hidden = mode === 'native' || mode === 'live'; };
    const list = choices(modes.map((mode) => [mode, t(`channels.${mode}.choice`)]), 'native', hide);
    return {
      element: h('span', { class: 'set-control' }, list, input), main: list,
      read() {
        if (list.value === 'these') return readChannels(input.value, t);
        return list.value === 'first' ? readNumber(name, entry, input.value.trim() || '?', t) : list.value;
      },
      show(value = 'native') {
        list.value = Array.isArray(value) ? 'these' : typeof value === 'number' ? 'first' : value;
        input.hidden = typeof value === 'string';
        input.value = typeof value === 'string' ? '' : [value].flat().join(', ');
      },
    };
  },
  folder(name, entry, { t }) {
    const words = [entry.default, 'stick', 'stick-or-internal'];
    const list = choices([...new Set([...words, entry.value ?? entry.default])].map((value) => [value, valueText(name, value, t)]), '', () => {});
    return { element: list, read: () => list.value || undefined, show: (value) => { list.value = value ?? ''; } };
  },
  hours(name, entry, { t }) {
    const rows = timeRows(t, true);
    const hide = (one) => { rows.element.hidden = one !== 'some'; };
    const mode = choices(['none', 'some', 'all'].map((one) => [one, t(`hours.${one}`)]), 'none', hide);
    return {
      element: h('div', { class: 'set-hours' }, mode, rows.element), main: mode,
      read: () => (mode.value === 'none' ? [] : readHours(mode.value === 'all' ? [['00:00', '00:00']] : rows.read(), t)),
      show(value = []) {
        const joined = joinedHours(value);
        mode.value = !joined.length ? 'none' : joined[0][1] - joined[0][0] === 1440 ? 'all' : 'some';
        rows.element.hidden = mode.value !== 'some';
        rows.show(mode.value === 'all' ? [] : value);
      },
    };
  },
  window(name, entry, { t }) {
    const rows = timeRows(t, false);
    const hide = (one) => { rows.element.hidden = one !== 'hours'; };
    const mode = choices([['always', valueText(name, 'always', t)], ['hours', t('hours.some')]], 'always', hide);
    return {
      element: h('div', { class: 'set-hours' }, mode, rows.element), main: mode,
      read: () => (mode.value === 'always' ? 'always' : readHours(rows.read(), t)[0]),
      show(value = 'always') {
        mode.value = value === 'always' ? 'always' : 'hours';
        rows.element.hidden = value === 'always';
        rows.show(value === 'always' ? [] : [value]);
      },
    };
  },
  /** Takes go to each store that is ticked. */
  stores(name, entry, { t, entries }) {
    const boxes = new Map(storesOf(entries).map((store) => [store, h('input', { type: 'checkbox' })]));
    return {
      element: h('div', {}, ...[...boxes].map(([store, box]) => h('label', { class: 'check' }, box, h('span', {}, valueText(name, store, t))))),
      main: [...boxes.values()][0],
      read() {
        const stores = [...boxes].filter(([, box]) => box.checked).map(([store]) => store);
        return stores.length > 1 ? stores : stores[0] ?? 'none';
      },
      show: (value) => { for (const [store, box] of boxes) box.checked = [value].flat().includes(store); },
    };
  },
  supply(name, entry, { t, kit }) {
    const sensors = (kit?.supplies ?? []).map((sensor) => [sensor.path, `${sensor.name}, ${sensor.path.split('/').at(-1)}`]);
    const options = [['', valueText(name, undefined, t)], ...sensors];
    if (entry.value !== undefined && !isOneOf(options, entry.value)) options.push([entry.value, entry.value]);
    const list = choices(options, '', () => {});
    return { element: list, read: () => list.value || undefined, show: (value) => { list.value = value ?? ''; } };
  },
  /** The line of a button or lamp: which one, and how it is wired. */
  line(name, entry, { t, lines }) {
    const isLamp = name.includes('.leds.');
    const keyOf = ({ line, led, chip, offset }) => JSON.stringify(line ? { line } : led ? { led } : { chip, offset });
    const list = choices([['none', valueText(name, undefined, t)]], 'none', () => wire());
    const low = h('input', { type: 'checkbox' });
    const pull = choices(['up', 'down', 'none'].map((one) => [one, t(`wire.pull.${one}`)]), 'up', () => {});
    const more = h('div', { class: 'set-wire', hidden: true }, h('label', { class: 'check' }, low, h('span', {}, t('wire.low'))),
      isLamp ? null : h('label', { class: 'field' }, h('span', {}, t('wire.pull')), pull));
    const wire = () => { more.hidden = list.value === 'none' || list.value.startsWith('{"led"'); };
    const offer = (key, text) => {
      if (![...list.options].some(({ value }) => value === key)) list.append(h('option', { value: key }, text));
    };
    let shown = null;
    lines().then((found) => {
      for (const line of found) {
        const place = `${line.chip} ${line.offset}`;
        offer(keyOf(line.name ? { line: line.name } : line), line.name ? `${line.name} (${place})` : place);
      }
    });
    return {
      element: h('div', {}, list, more), main: list,
      read() {
        if (list.value === 'none') return entry.default === undefined ? undefined : 'none';
        const value = JSON.parse(list.value);
        if (value.led) return value;
        // What a file says although it is so anyway stays there.
        if (low.checked !== !isLamp || shown?.active_low !== undefined) value.active_low = low.checked;
        if (!isLamp && (pull.value !== 'up' || shown?.pull !== undefined)) value.pull = pull.value;
        return value;
      },
      show(value) {
        shown = value && typeof value === 'object' ? value : null;
        if (shown) offer(keyOf(shown), shown.line ?? shown.led ?? `${shown.chip} ${shown.offset}`);
        list.value = shown ? keyOf(shown) : 'none';
        low.checked = shown?.active_low ?? !isLamp;
        pull.value = shown?.pull ?? 'up';
        wire();
      },
    };
  },
};

// A setting with its control, what it is for, and its problem.

let count = 0;

/** A key with its control, what it is for, and its problem. */
class Field {
  #control;
  #shown;

  /** @param hint The sentence below the control. */
  constructor(name, entry, context, hint) {
    const { t } = context;
    this.name = name;
    this.entry = entry;
    const kind = kindOf(name, entry);
    this.#control = controls[kind](name, entry, context);
    const { element, main = element } = this.#control;
    const id = `set-${count++}`;
    const label = textOr(t, `key.${name}`, entry.key);
    this.problem = h('p', { class: 'is-error', id: `${id}-problem`, role: 'alert', hidden: true });
    main.id = id;
    main.setAttribute('aria-describedby', `${id}-hint ${id}-problem`);
    const isGroup = ['fixed', 'hours', 'line', 'stores', 'window'].includes(kind);
    const heading = kind === 'toggle' ? h('label', { class: 'check' }, element, h('span', {}, label))
      : isGroup ? h('span', { class: 'set-label', id: `${id}-name` }, label)
      : h('label', { class: 'set-label', for: id }, label);
    // The first of several controls; each tick of the stores has its own name.
    if (isGroup && main.tagName === 'SELECT') main.setAttribute('aria-label', label);
    this.element = h('div', { class: 'set-field', 'data-key': name, ...(isGroup ? { role: 'group', 'aria-labelledby': `${id}-name` } : {}) },
      heading, kind === 'toggle' ? null : element, this.problem, h('p', { class: 'dim', id: `${id}-hint` }, hint));
    // Inputs beside the main one, such as the one of another value.
    for (const input of element.querySelectorAll('input:not([aria-label], [type="checkbox"])')) {
      if (input !== main) input.setAttribute('aria-label', label);
    }
    this.renew(entry);
  }

  /** Whether a person has changed the field. A value that cannot be read is a change. */
  get isChanged() {
    try {
      return !isSame(this.#control.read() ?? null, this.#shown);
    } catch {
      return true;
    }
  }

  /** The value to send: null takes the key out of the file, so that its default is in force. */
  read() {
    const value = this.#control.read();
    return value === undefined || isSame(value, this.entry.default) ? null : value;
  }

  /** Shows the kit's value, unless a person has changed the field to another one. */
  renew(entry) {
    const [former, value] = [this.entry, entry.value ?? entry.in_force];
    const isFirst = this.#shown === undefined;
    if (!isFirst && this.isChanged && !isSame(this.#read(), value ?? null)) {
      this.entry = entry;
      return;
    }
    // What is the same is not drawn again, because somebody may be in it.
    if (isFirst || !isSame(value, former.value ?? former.in_force)) this.#control.show(value);
    this.entry = entry;
    this.#shown = this.#read();
    this.fail(entry.problem ?? '');
  }

  /** The value of the control; null for none, and for one that cannot be read. */
  #read() {
    try {
      return this.#control.read() ?? null;
    } catch {
      return null;
    }
  }

  /** Puts a value in the field, as a person would. */
  fill(value) {
    this.#control.show(value);
    this.fail('');
    this.focus();
  }

  fail(sentence) {
    this.problem.textContent = sentence;
    this.problem.hidden = !sentence;
    const { element, main = element } = this.#control;
    if (sentence) main.setAttribute('aria-invalid', 'true');
    else main.removeAttribute('aria-invalid');
  }

  focus() {
    const { element, main = element } = this.#control;
    main.focus();
  }
}

// The form of a group of settings: its fields, and what became of a change.

/** Keys that are in force at once where the deck can set them: the deck's request with the value. The services restart all the same. */
const atOnce = {
  'capture.gain_db': (value) => (typeof value === 'number' ? ['gain', { gain_db: value }] : null),
  'capture.agc': (value) => ['gain', { agc: value === true }],
  'playback.volume': (value) => (typeof value === 'number' ? ['volume', { volume: value }] : null),
};

/** What a key is for, its default, and when a change is in force. */
export function hintOf(name, entry, path, t) {
  // The names of lines and of the stores' values say what they are for.
  const purpose = textOr(t, `key.${name}`, null) === null ? entry.purpose?.split('. Default: ')[0] ?? '' : '';
  const parts = [
    textOr(t, `why.${name}`, purpose), t('set.default', { value: defaultText(name, entry, t) }),
    entry.changeable ? t(name in atOnce ? 'set.at-once' : 'set.restart') : t('settings.byHand', { path }),
  ];
  return parts.filter(Boolean).map((part) => (/[.!?]$/.test(part) ? part : `${part}.`)).join(' ');
}

/** A refusal as it is shown at its field, without the place in the file. */
export function sentenceAt(name, { message, detail }) {
  const begin = detail.indexOf(`${name}: `);
  return begin < 0 ? message : message.replace(detail, detail.slice(begin + name.length + 2));
}

/** What a state of a change says. */
export const stateText = ({ state, why }, t) => t(`set.${state}`, { why });

/**
 * The form of some keys.
 * @param {object} context Of the page, with `store`, `cards` and `lines`.
 */
export function groupForm(keys, context) {
  const { t, api, store } = context;
  const { cards, lines } = context;
  const fields = keys.map((name) => {
    const entry = store.entries.get(name);
    return new Field(name, entry, { t, kit: store.kit, entries: store.entries, cards, lines }, hintOf(name, entry, store.settings.path, t));
  });
  const state = h('p', { role: 'status', class: 'set-state' });
  const problem = h('p', { role: 'alert', class: 'is-error' });
  const save = h('button', { type: 'submit', class: 'primary' }, t('settings.save'));
  const isChangeable = store.settings.changeable && keys.some((name) => store.entries.get(name).changeable);
  // A machine without the unit that writes the settings shows them only.
  const body = h('fieldset', { disabled: !isChangeable }, ...fields.map((field) => field.element));
  const element = h('form', { class: 'set-form', novalidate: true }, body, problem,
    isChangeable ? save : h('p', { class: 'dim' }, t('set.by-hand', { path: store.settings.path })), state);
  store.watch(() => {
    for (const field of fields) {
      const entry = store.entries.get(field.name);
      if (entry) field.renew(entry);
    }
  });

  /** The changed values, or null if one of them cannot be read: then it has its sentence, and the focus. */
  const read = () => {
    const changes = {};
    let wrong = null;
    for (const field of fields.filter(({ isChanged }) => isChanged)) {
      field.fail('');
      try {
        changes[field.name] = field.read();
      } catch (error) {
        field.fail(error.message);
        wrong ??= field;
      }
    }
    wrong?.focus();
    return wrong ? null : changes;
  };

  /** Shows a refusal at the field that it is about. */
  const refuse = (error) => {
    const field = fields.find(({ name }) => name === error.values?.name);
    if (!field) { problem.textContent = error.message; return; }
    field.fail(sentenceAt(field.name, error));
    field.focus();
  };

  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.textContent = '';
    state.textContent = '';
    const changes = read();
    if (!changes) return;
    const names = Object.keys(changes);
    if (!names.length) { state.textContent = t('settings.nothing'); return; }
    save.setAttribute('aria-busy', 'true');
    save.disabled = true;
    try {
      await store.send(changes);
      state.textContent = t('set.saved');
      for (const name of names) {
        const [command, members] = atOnce[name]?.(changes[name]) ?? [];
        // The settings are written. A deck that refuses has the value after its restart.
        if (command) await api.post(`/api/deck/${command}`, members).catch(() => {});
      }
      save.disabled = false;
      await store.follow((now) => { state.textContent = stateText(now, t); });
    } catch (error) {
      refuse(error);
    } finally {
      save.disabled = false;
      save.removeAttribute('aria-busy');
    }
  });
  /** Puts a value in a field, as a person would. */
  element.fill = (name, value) => fields.find((field) => field.name === name)?.fill(value);
  /** Whether a person has typed something that was not sent. */
  element.isChanged = () => fields.some(({ isChanged }) => isChanged);
  return element;
}
