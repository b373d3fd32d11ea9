// The deck: the current state of the kit, its buttons, the selected take, and details of the kit.
import { AnswerOrder, loadPart } from './api.js';
import { LiveWave, Meters, PressButton, Thumbs } from './deck-parts.js';
import { facts, field, h, section, setText, trouble } from './dom.js';
import {
  ageText, begun, dateText, diskText, FaultLines, leftText, lengthText, linesOf, measuredText, nameText, numberOf, numberText, queueText, roomText,
  stemText, uploadText,
} from './format.js';
import { counted } from './texts.js';

const refreshMilliseconds = 30_000;
const askRestMilliseconds = 3000;
/** The kit measures itself every 10 minutes. Among this many records of its history is a measurement. */
const measureMilliseconds = 300_000;
const measureRecords = 200;
const unsyncedSeconds = 2;

export function deckPage(root, context) {
  const page = new DeckPage(root, context);
  return () => page.close();
}

class DeckPage {
  #ends = [];
  #hasUnknownStick = false;
  #queueOrder = new AnswerOrder();

  constructor(root, context) {
    this.context = context;
    this.t = context.t;
    this.mayAct = context.session().right === 'all';
    this.root = root;
    this.#build();
    const { events } = context;
    this.#ends.push(
      events.on('status', (status) => { this.#hear(); this.#show(status); }), events.on('level', (level) => { this.#hear(); this.#move(level); }),
      events.on('peaks', (peaks) => this.wave.add(peaks)), events.on('take', () => this.#askQueue()),
      events.on('catalog', () => this.#askQueueSoon()),
      events.on('listening', ({ listeners }) => this.#showListeners(listeners)),
      events.on('connection', ({ isConnected }) => this.#connect(isConnected)));
    this.#every(refreshMilliseconds, () => this.#askQueue());
    this.#every(measureMilliseconds, () => this.#askMeasured());
    this.#every(1000, () => this.#showAge());
    this.#ends.push(() => clearTimeout(this.asking), () => this.wave.close(), () => this.meters.close(), () => this.take.close());
    this.heardAt = context.heardAt();
    if (context.status()) this.#show(context.status());
    this.#showAge();
    this.#askQueue();
    this.#askMeasured();
  }

  close() {
    for (const end of this.#ends) end();
    this.thumbs?.close();
    this.listen?.end();
    this.spectrum?.close();
    this.context.places.measured.textContent = '';
  }

  #every(milliseconds, body) {
    const timer = setInterval(() => { if (!document.hidden) body(); }, milliseconds);
    this.#ends.push(() => clearInterval(timer));
  }

  // MARK: Elements

  #build() {
    const { context, root, t, mayAct } = this;
    this.name = h('p', { class: 'state-name', 'aria-live': 'polite' });
    this.about = h('p', { class: 'state-about' });
    this.clock = h('p', { class: 'clock', role: 'timer', 'aria-label': t('deck.time') }, '0:00');
    this.disk = h('p', { class: 'disk' });
    // The moving figure is for the eye. This sentence changes only when a take begins to be safe, or is not any more.
    this.safe = h('p', { class: 'visually-hidden', role: 'status' });
    this.meters = new Meters(context);
    this.wave = new LiveWave(t('deck.waveform'));
    this.take = new DeckTake(context, mayAct);
    this.faults = new FaultLines({ t, mayAct, run: (action) => this.#help(action) });
    this.left = h('span', {});
    this.upload = h('span', {});
    this.listeners = h('p', { class: 'listening', role: 'status' });
    this.kit = new DeckKit(context, mayAct, (values) => context.api.post('/api/deck/filter', values));
    this.state = h('section', { class: 'card state', 'aria-label': t('deck.state') },
      h('div', { class: 'state-now' }, h('div', { class: 'state-line' }, this.name, this.about), this.clock, this.disk, this.safe),
      h('div', { class: 'state-level', role: 'group', 'aria-label': t('deck.level') }, this.meters.element));
    root.classList.add('deck');
    root.append(
      h('h1', { class: 'visually-hidden' }, t('nav.deck')), this.faults.element,
      h('div', { class: 'deck-column' },
        this.state, h('p', { class: 'card deck-left' }, this.left, this.upload), this.take.element,
        mayAct ? null : h('p', { class: 'card' }, t('deck.look'), ' ', h('a', { href: '#/pair' }, t('deck.pair')))),
      h('div', { class: 'deck-column' },
        h('section', { class: 'card live-card', 'aria-label': t('deck.live') }, this.wave.element, this.spectrumPlace = h('div', {}), this.listeners, this.listenPlace = h('div', {}))),
      h('div', { class: 'deck-more' }, ...this.kit.elements));
    if (mayAct) this.#addThumbs();
    if (!mayAct || !context.session().listening) return;
    this.#later(['listen.js'], ([{ listenButton }]) => {
      this.listen = listenButton(context);
      this.listenPlace.append(this.listen);
    });
    this.#later(['live-spectrum.js'], ([{ LiveSpectrum }]) => {
      this.spectrum = new LiveSpectrum(context);
      this.spectrumPlace.append(this.spectrum.element);
      this.spectrum.start();
    });
  }

  #addThumbs() {
    const { context, t } = this;
    const note = h('input', { type: 'text', maxlength: '250', autocomplete: 'off', enterkeyhint: 'done' });
    this.thumbs = new Thumbs(context, async () => {
      const text = note.value.trim();
      await context.api.post('/api/deck/mark', text ? { note: text } : {});
      if (note.value.trim() === text) note.value = '';
      context.announce(t('deck.marked'));
    });
    this.noteForm = h('form', { class: 'state-note', hidden: true }, field(t('deck.note'), note));
    this.noteForm.addEventListener('submit', (event) => {
      event.preventDefault();
      this.thumbs.buttons.mark.press();
    });
    this.state.append(this.noteForm);
    context.places.thumbs.replaceChildren(this.thumbs.element);
  }

  /** Loads modules after the deck is shown, and again if the connection was lost meanwhile. `use` is called with them. */
  async #later(files, use) {
    const modules = await Promise.all(files.map(loadPart)).catch(() => null);
    if (!this.state.isConnected) return;
    if (modules) use(modules);
    else setTimeout(() => this.#later(files, use), 2000);
  }

  // MARK: Actions

  /** Carries out the action of a line that needs a person. */
  async #help(action) {
    const { api, say } = this.context;
    if (action === 'clock') {
      await api.post('/api/deck/clock', { time: new Date().toISOString() });
      say(this.t('clock.done'));
    } else if (action === 'retry') {
      await api.post('/api/outbox/retry');
      say(this.t('act.retried'));
    } else {
      await api.post('/api/stick/adopt');
      say(this.t('stick.done'));
    }
    await this.#askQueue();
    if (this.status) this.#showFaults();
  }

  // MARK: Display

  #show(status) {
    const { t } = this;
    this.status = status;
    const isRecording = status.state === 'recording';
    this.state.className = `card state is-${status.state}`;
    setText(this.name, t(`state.${status.state === 'idle' && !status.armed ? 'off' : status.state}`));
    setText(this.left, leftText(status, t));
    this.thumbs?.show(status);
    if (this.noteForm) this.noteForm.hidden = !isRecording;
    this.take.show(status);
    this.kit.show(status);
    this.#showFaults();
    this.#showAge();
    this.#move(status);
  }

  #move(level) {
    const { status, t } = this;
    this.meters.show(level.level_dbfs);
    if (!status) return;
    const isPlayed = status.state === 'playing' || status.state === 'paused';
    const isRecording = status.state === 'recording';
    const time = lengthText(isPlayed ? level.position_seconds ?? 0 : level.elapsed_seconds);
    setText(this.clock, time);
    this.clock.style.setProperty('--letters', time.length);
    const isSafe = level.elapsed_seconds - level.synced_seconds <= unsyncedSeconds;
    const [kind, text] = isRecording ? [isSafe ? 'is-safe' : 'is-unsafe', diskText(level, isSafe, t)]
      : isPlayed ? ['', t('deck.of', { time: lengthText(level.elapsed_seconds) })]
        : this.thumbs?.mayContinue ? ['is-saved', t('deck.saved')] : ['', status.armed && this.mayAct ? t('deck.armed') : ''];
    setText(this.disk, text);
    this.disk.className = `disk ${kind}`;
    setText(this.safe, isRecording ? t(isSafe ? 'deck.safe' : 'deck.notsafe') : '');
    this.kit.showLamps(status, isSafe);
  }

  #hear() {
    this.heardAt = performance.now();
    if (this.isOld) this.#showAge();
  }

  /** Shows how old the values are once none came for a while. */
  #showAge() {
    const age = this.heardAt === null ? '' : ageText(performance.now() - this.heardAt, this.context.isReachable(), this.t);
    this.isOld = age !== '';
    this.root.classList.toggle('is-old', this.isOld);
    const name = this.status?.state === 'recording' ? stemText(this.status.take ?? '', this.t) : '';
    setText(this.about, age || name);
  }

  #connect(isConnected) {
    this.#showAge();
    if (isConnected) {
      this.spectrum?.again();
      this.thumbs?.reach();
      this.take.reach();
      this.#askQueue();
      this.#askMeasured();
    } else {
      this.thumbs?.lose();
      this.take.lose();
    }
  }

  #showListeners(count) {
    setText(this.listeners, count ? counted(this.t, 'deck.listeners', count) : '');
  }

  #showFaults() {
    this.faults.show(linesOf(this.status, {
      clockDifference: this.mayAct ? this.context.api.clockDifference : null, hasUnknownStick: this.mayAct && this.#hasUnknownStick,
    }));
  }

  /** Combines changes that come in quick succession into one request. */
  #askQueueSoon() {
    this.asking ??= setTimeout(() => {
      this.asking = null;
      this.#askQueue();
      this.take.renew();
    }, askRestMilliseconds);
  }

  async #askQueue() {
    const isNewest = this.#queueOrder.ask();
    const outbox = await this.context.api.get('/api/outbox?limit=10').catch(() => null);
    if (!outbox || !isNewest()) return;
    setText(this.upload, uploadText(outbox, this.t));
    this.kit.showOutbox(outbox);
    this.#hasUnknownStick = outbox.stores.some(({ state }) => state === 'stick-offered');
    // The answer also has the kit's clock.
    if (this.status) this.#showFaults();
  }

  /** Shows battery and temperature at the top, where the kit measures them. */
  async #askMeasured() {
    if (!this.mayAct) return;
    const { api, places } = this.context;
    const found = await api.get(`/api/history?limit=${measureRecords}`).catch(() => null);
    if (!found || !this.state.isConnected) return;
    const text = measuredText(found.history, api.lastDate ?? 0);
    setText(places.measured, text);
    places.measured.title = text && this.t('deck.measured');
  }
}

// The selected take, or the one that is played: its name, and play, back and forward, as on the panel.

const skipSeconds = 5;

/** The request for the take before (`step` is -1) or after a take, by number, as the recorder orders them. */
export function neighbour(stem, step) {
  const isBack = step < 0;
  // A mark of the list is a number and a row. These rows do not exist, so the take itself is not found.
  const after = `${numberOf(stem)}:${isBack ? -1 : Number.MAX_SAFE_INTEGER}`;
  return `/api/takes?${new URLSearchParams({ order: 'number', descending: String(isBack), place: 'here', limit: '1', after })}`;
}

class DeckTake {
  #stem = null;
  #status = null;
  #order = new AnswerOrder();

  constructor(context, mayAct) {
    const { t } = context;
    Object.assign(this, { context, t, mayAct });
    this.name = h('a', { class: 'deck-take-name' });
    this.about = h('p', { class: 'deck-take-about dim' });
    this.problem = h('p', { class: 'is-error deck-take-problem', role: 'alert' });
    const tell = (sentence) => { this.problem.textContent = sentence; };
    const post = (path, values) => context.api.post(`/api/deck/${path}`, values);
    const make = (name, run) => new PressButton(context, { name, run, tell });
    this.play = make('play', () => post(this.#status?.state === 'playing' ? 'pause' : 'play'));
    this.back = make('back', () => this.#move(-1, post));
    this.forward = make('forward', () => this.#move(1, post));
    this.element = h('section', { class: 'card deck-take', 'aria-label': t('deck.selected'), hidden: true },
      h('div', { class: 'deck-take-text' }, this.name, this.about),
      mayAct ? h('div', { class: 'deck-take-buttons' }, this.back.element, this.play.element, this.forward.element) : null, this.problem);
  }

  show(status) {
    const { t } = this;
    const [before, isPlayed] = [this.#status, status.state === 'playing' || status.state === 'paused'];
    this.#status = status;
    const stem = status.take ?? status.selected;
    this.element.hidden = status.state === 'recording' || !stem;
    if (before?.state !== status.state) for (const each of this.#buttons) this.#clear(each);
    const arrow = (pressed, iconName, seconds, choice) => {
      pressed.set({ rest: t(isPlayed ? seconds : choice) }, isPlayed ? '' : iconName);
      pressed.element.classList.toggle('is-icon', !isPlayed);
      const long = t(isPlayed ? `${seconds}.long` : choice);
      if (isPlayed) pressed.element.setAttribute('aria-label', long);
      else pressed.element.removeAttribute('aria-label');
      pressed.element.title = long;
    };
    arrow(this.back, 'previous', 'deck.back', 'deck.previous');
    arrow(this.forward, 'next', 'deck.forward', 'deck.following');
    const [key, pending] = { playing: ['deck.pause', 'press.pausing'], paused: ['deck.resume', 'press.playing'] }[status.state] ?? ['deck.play', 'press.playing'];
    this.play.set({ rest: t(key), pending: t(pending), done: t(key) }, status.state === 'playing' ? 'pause' : 'play');
    if (stem && stem !== this.#stem) this.#describe(stem);
  }

  /** The take's name may have changed. */
  renew() {
    if (this.#stem) this.#describe(this.#stem);
  }

  lose() { for (const each of this.#buttons) each.lose(); }

  reach() { for (const each of this.#buttons) this.#clear(each); }

  close() { for (const each of this.#buttons) each.close(); }

  get #buttons() { return [this.play, this.back, this.forward]; }

  #clear(pressed) {
    if (pressed.state.kind === 'refused' || pressed.state.kind === 'unreachable') pressed.tell('');
    if (pressed.state.kind !== 'done') pressed.rest();
  }

  async #describe(stem) {
    const { t } = this;
    if (stem !== this.#stem) {
      this.#stem = stem;
      this.name.textContent = stemText(stem, t);
      this.name.href = `#/takes/${encodeURIComponent(stem)}`;
      this.about.textContent = '';
    }
    const isNewest = this.#order.ask();
    const take = (await this.context.api.get(`/api/takes/${encodeURIComponent(stem)}`).catch(() => null))?.take;
    if (!take || stem !== this.#stem || !isNewest()) return;
    this.name.textContent = nameText(take, t);
    const when = take.clock === 'unset' && !take.started_corrected ? '' : dateText(begun(take));
    this.about.textContent = [when, lengthText(take.duration_seconds)].filter(Boolean).join(' · ');
  }

  /** Selects the previous or the next take, or skips while one is played. */
  async #move(step, post) {
    const { state, selected } = this.#status;
    if (state === 'playing' || state === 'paused') return post('skip', { seconds: step * skipSeconds });
    if (numberOf(selected) === null) throw new Error(this.t('deck.notake'));
    const [found] = (await this.context.api.get(neighbour(selected, step))).takes;
    if (!found) throw new Error(this.t(step < 0 ? 'deck.first' : 'deck.last'));
    return post('select', { take: found.take });
  }
}

// The deck's details below the first screen: the state of the kit, what its lamps show, and the filter.

/** What the kit's lamps show, as rows of a name and a pattern: keys of texts with their values. */
export function lampRows(status, isSafe, upload) {
  const isRecording = status.state === 'recording';
  const patterns = {
    record: isRecording ? (isSafe ? 'on' : 'fast') : 'off',
    play: { playing: 'on', paused: 'slow' }[status.state] ?? (!isRecording && status.armed ? 'flash' : 'off'),
    upload: status.pairing ? 'flicker' : upload,
  };
  const fault = status.faults.length ? ['lamp.count', { n: Math.min(...status.faults.map(({ code }) => code)) }] : ['lamp.off', {}];
  return [...Object.entries(patterns).map(([name, pattern]) => [`lamp.${name}`, [`lamp.${pattern}`, {}]]), ['lamp.fault', fault]];
}

class DeckKit {
  #shownLamps = '';
  #upload = 'off';

  /** @param filter Sends a changed filter. */
  constructor(context, mayAct, filter) {
    const { t } = context;
    this.t = t;
    this.facts = h('div', {});
    this.queue = h('span', {});
    this.lamps = h('ul', { class: 'lamps' });
    this.elements = [
      section(t('deck.facts'), this.facts),
      h('details', { class: 'card' }, h('summary', {}, t('lamps')), this.lamps),
    ];
    if (mayAct) this.elements.push(this.#filterForm(filter));
  }

  show(status) {
    const { t } = this;
    // Without a card, the kit has no rate and no channels.
    const channels = () => (status.channels_of_card
      ? t('deck.channels.some', { list: status.channels_of_card.join('+') }) : counted(t, 'deck.channels', status.channels));
    const format = status.card && `${numberText(status.rate_hz / 1000, 3)} kHz, ${channels()}, ${status.format}`;
    const cutoff = (value) => (value === null ? t('off') : `${numberText(value)} Hz`);
    const rows = [
      [t('deck.space'), roomText(status, t)],
      [t(status.take ? 'deck.take' : 'deck.selected'), status.take ?? status.selected ?? '–'],
      [t('deck.card'), status.card ? `${status.card}: ${format}` : t('deck.nocard')],
      [t('deck.filter'), t('deck.filter.text', { low: cutoff(status.low_pass_hz), high: cutoff(status.high_pass_hz), slope: status.slope_db_per_octave })],
      [t('deck.clock'), t(`clock.${status.clock}`)],
      ...(status.scheduled ? [[t('deck.schedule'), t('deck.schedule.value', {
        from: dateText(new Date(status.scheduled.from)), until: dateText(new Date(status.scheduled.until)) })]] : []),
      [t('deck.queue'), this.queue],
    ];
    this.facts.replaceChildren(facts(rows));
    const { form } = this;
    if (form && !form.element.contains(document.activeElement)) {
      form.low.value = status.low_pass_hz ?? 'off';
      form.high.value = status.high_pass_hz ?? 'off';
      form.slope.value = status.slope_db_per_octave;
    }
  }

  showLamps(status, isSafe) {
    const { t } = this;
    const rows = lampRows(status, isSafe, this.#upload);
    const key = JSON.stringify(rows);
    if (this.#shownLamps === key) return;
    this.#shownLamps = key;
    this.lamps.replaceChildren(...rows.map(([name, pattern]) => h('li', {}, `${t(name)}: `, h('strong', {}, t(...pattern)))));
  }

  /** @param outbox The upload queue, or null if it could not be read. */
  showOutbox(outbox) {
    if (!outbox) return;
    const text = queueText(outbox, this.t);
    setText(this.queue, text);
    const has = (wanted) => outbox.stores.some(({ state }) => state === wanted);
    this.#upload = outbox.takes.some(({ state }) => state === 'sending') ? 'slow'
      : has('may-be-pulled') ? 'on' : has('stick-offered') ? 'offer' : 'off';
  }

  #filterForm(filter) {
    const { t } = this;
    const low = h('input', { type: 'text', size: '8', inputmode: 'text' });
    const high = h('input', { type: 'text', size: '8', inputmode: 'text' });
    const slope = h('select', {}, ...[12, 24, 36, 48].map((value) => h('option', { value }, String(value))));
    const problem = trouble();
    const element = h('form', { class: 'row' }, field(t('deck.filter.low'), low), field(t('deck.filter.high'), high),
      field(t('deck.filter.slope'), slope), h('button', { type: 'submit' }, t('deck.filter.set')));
    const read = (text) => (text === '' || Number.isNaN(Number(text)) ? text || 'off' : Number(text));
    element.addEventListener('submit', async (event) => {
      event.preventDefault();
      problem.textContent = '';
      const wanted = { low_pass_hz: read(low.value.trim()), high_pass_hz: read(high.value.trim()), slope_db_per_octave: Number(slope.value) };
      await filter(wanted).catch((error) => { problem.textContent = error.message; });
    });
    this.form = { element, low, high, slope };
    return h('details', { class: 'card' }, h('summary', {}, t('deck.filter')), element, problem);
  }
}
