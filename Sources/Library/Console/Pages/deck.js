// The deck: the current state of the kit, and its buttons.
import { loadPart } from './api.js';
import { button, field, h } from './dom.js';
import { Meters } from './meters.js';
import { LiveWave } from './livewave.js';
import { dateText, lengthText, sizeText } from './takes-format.js';

const refreshMilliseconds = 30_000;
const askRestMilliseconds = 3000;
const unsyncedSeconds = 2;

export function deckPage(root, context) {
  const page = new DeckPage(root, context);
  return () => page.close();
}

class DeckPage {
  #ends = [];
  #shown = {};

  constructor(root, context) {
    this.context = context;
    this.t = context.t;
    this.mayAct = context.session().right === 'all';
    this.#build(root);
    const { events } = context;
    this.#ends.push(
      events.on('status', (status) => this.#show(status)), events.on('level', (level) => this.#move(level)),
      events.on('peaks', (peaks) => this.wave.add(peaks)), events.on('take', () => this.#askQueue()),
      events.on('catalog', () => this.#askQueueSoon()),
      events.on('listening', ({ listeners }) => this.#showListeners(listeners)),
      events.on('connection', ({ isConnected }) => { if (isConnected) this.#askQueue(); }));
    const timer = setInterval(() => { if (!document.hidden) this.#askQueue(); }, refreshMilliseconds);
    this.#ends.push(() => clearInterval(timer), () => clearTimeout(this.asking), () => this.wave.close(), () => this.meters.close());
    if (context.status()) this.#show(context.status());
    this.#askQueue();
  }

  close() {
    for (const end of this.#ends) end();
    this.listen?.end();
  }

  // MARK: Elements

  #build(root) {
    const { t } = this;
    this.name = h('p', { class: 'state-name', 'aria-live': 'polite' });
    this.clock = h('p', { class: 'clock' }, '0:00');
    this.safe = h('p', { class: 'safe' });
    this.head = h('div', { class: 'card' }, h('div', { class: 'state' }, this.name, this.safe), this.clock);
    this.meters = new Meters(this.context);
    this.wave = new LiveWave(t('deck.waveform'));
    this.faults = h('section', { 'aria-label': t('deck.faults'), hidden: true });
    this.listeners = h('p', { class: 'listening', role: 'status' });
    this.facts = h('dl', { class: 'facts' });
    this.lamps = h('ul', { class: 'lamps' });
    this.queue = h('span', {});
    this.clockNote = h('section', { class: 'card', hidden: true });
    this.stickNote = h('section', { class: 'card', hidden: true });
    root.append(
      h('h1', { class: 'visually-hidden' }, t('deck.title')), this.head, this.clockNote, this.stickNote, this.faults,
      this.mayAct ? this.#buttons() : h('p', {}, t('deck.look'), ' ', h('a', { href: '#/pair' }, t('deck.pair'))),
      h('section', { class: 'card', 'aria-label': t('deck.level') }, this.meters.element, this.wave.element, this.listeners, this.listenPlace = h('div', {})),
      h('section', { class: 'card' }, h('h2', {}, t('deck.facts')), this.facts),
      h('section', { class: 'card' }, h('h2', {}, t('lamps')), this.lamps));
    if (this.mayAct) root.append(this.#filterForm());
    if (this.mayAct && this.context.session().listening) this.#addListening();
  }

  async #addListening() {
    const modules = await Promise.all([loadPart('listen.js'), loadPart('texts.js'), loadPart('takes-texts.js')]).catch(() => null);
    if (!this.listenPlace.isConnected) return;
    if (!modules) {
      // The connection was lost meanwhile.
      setTimeout(() => this.#addListening(), 2000);
      return;
    }
    const [{ listenButton }, { addTexts }, texts] = modules;
    addTexts('en', texts.en);
    addTexts('de', texts.de);
    this.listen = listenButton(this.context);
    this.listenPlace.append(this.listen);
  }

  #buttons() {
    const { t } = this;
    const make = (name, label, action, properties = {}) => button(t(label), action, { 'data-name': name, ...properties });
    this.play = make('play', 'deck.play', () => this.#playOrPause());
    const note = h('input', { type: 'text', maxlength: '250', autocomplete: 'off' });
    const form = h('form', { class: 'row' }, field(t('deck.note'), note, 'field grow'), this.mark = h('button', { type: 'submit' }, t('deck.mark')));
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      if (await this.#command('mark', note.value.trim() ? { note: note.value.trim() } : {})) {
        note.value = '';
        this.context.say(t('deck.marked'));
      }
    });
    this.problem = h('p', { role: 'alert', class: 'is-error' });
    return h('section', { class: 'card', 'aria-label': t('deck.title') },
      h('div', { class: 'deck-buttons' },
        this.record = make('record', 'deck.record', () => this.#command('record'), { class: 'record wide' }),
        make('stop', 'deck.stop', () => this.#command('stop'), { class: 'wide' }),
        make('back', 'deck.back', () => this.#command('skip', { seconds: -5 }), { 'aria-label': t('deck.back.long') }),
        this.play,
        make('forward', 'deck.forward', () => this.#command('skip', { seconds: 5 }), { 'aria-label': t('deck.forward.long') })),
      form, this.problem);
  }

  #filterForm() {
    const { t } = this;
    const low = h('input', { type: 'text', size: '8', inputmode: 'text' });
    const high = h('input', { type: 'text', size: '8', inputmode: 'text' });
    const slope = h('select', {}, ...[12, 24, 36, 48].map((value) => h('option', { value }, String(value))));
    const form = h('form', { class: 'row' }, field(t('deck.filter.low'), low), field(t('deck.filter.high'), high),
      field(t('deck.filter.slope'), slope), h('button', { type: 'submit' }, t('deck.filter.set')));
    const read = (text) => (text === '' || Number.isNaN(Number(text)) ? text || 'off' : Number(text));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#command('filter', { low_pass_hz: read(low.value.trim()), high_pass_hz: read(high.value.trim()), slope_db_per_octave: Number(slope.value) });
    });
    this.filter = { low, high, slope };
    return h('details', { class: 'card' }, h('summary', {}, t('deck.filter')), form);
  }

  // MARK: Commands

  async #command(name, values = {}) {
    this.problem.textContent = '';
    try {
      await this.context.api.post(`/api/deck/${name}`, values);
      return true;
    } catch (error) {
      this.problem.textContent = error.message;
      return false;
    }
  }

  #playOrPause() {
    return this.#command(this.status?.state === 'playing' ? 'pause' : 'play');
  }

  async #setClock() {
    if (await this.#command('clock', { time: new Date().toISOString() })) this.context.say(this.t('clock.done'));
  }

  // MARK: Display

  /** Sets a text only if it differs, because a screen reader would announce it again. */
  #text(element, text) { if (element.textContent !== text) element.textContent = text; }

  #show(status) {
    const { t } = this;
    this.status = status;
    const isRecording = status.state === 'recording';
    this.head.className = `card is-${status.state}`;
    this.#text(this.name, t(`state.${status.state === 'idle' && !status.armed ? 'off' : status.state}`));
    this.#move(status);
    if (this.play) {
      this.#text(this.play, t(`deck.${{ playing: 'pause', paused: 'resume' }[status.state] ?? 'play'}`));
      this.record.disabled = isRecording;
      this.mark.disabled = !isRecording;
    }
    this.#showFaults(status.faults);
    this.#showFacts(status);
    this.#showClock(status);
    const { filter } = this;
    if (filter && !filter.low.form.contains(document.activeElement)) {
      filter.low.value = status.low_pass_hz ?? 'off';
      filter.high.value = status.high_pass_hz ?? 'off';
      filter.slope.value = status.slope_db_per_octave;
    }
  }

  #move(level) {
    const { status, t } = this;
    const isPlayed = status?.state === 'playing' || status?.state === 'paused';
    const seconds = isPlayed ? level.position_seconds ?? 0 : level.elapsed_seconds;
    this.#text(this.clock, lengthText(seconds, isPlayed || status?.state === 'recording' ? 1 : 0));
    this.meters.show(level.level_dbfs);
    if (!status) return;
    const owed = level.elapsed_seconds - level.synced_seconds;
    const isSafe = owed <= unsyncedSeconds;
    const isRecording = status.state === 'recording';
    const safe = isRecording ? (isSafe ? t('deck.safe') : t('deck.unsafe', { seconds: Math.round(owed) })) : status.armed ? t('deck.armed') : '';
    this.#text(this.safe, safe);
    this.safe.classList.toggle('is-error', isRecording && !isSafe);
    this.#showLamps(status, isSafe);
  }

  #showListeners(count) {
    this.#text(this.listeners, count ? `🎧 ${this.t(count === 1 ? 'deck.listener' : 'deck.listeners', { n: count })}` : '');
  }

  #showFaults(faults) {
    const key = JSON.stringify(faults);
    if (this.#shown.faults === key) return;
    this.#shown.faults = key;
    this.faults.hidden = faults.length === 0;
    this.faults.replaceChildren(h('ul', { class: 'plain faults' }, ...faults.map(({ code, message }) =>
      h('li', {}, h('p', {}, h('strong', {}, message)), h('p', {}, this.t(`help.${code}`))))));
  }

  #showFacts(status) {
    const { t } = this;
    const channels = status.channels_of_card ? `ch ${status.channels_of_card.join('+')}` : `${status.channels} ch`;
    const format = status.card && `${status.rate_hz / 1000} kHz, ${channels}, ${status.format}`;
    const cutoff = (value) => (value === null ? t('off') : `${Math.round(value)} Hz`);
    const rows = [
      [t(status.take ? 'deck.take' : 'deck.next'), status.take ?? status.selected ?? '–'],
      [t('deck.card'), status.card ? `${status.card}: ${format}` : t('deck.nocard')],
      [t('deck.filter'), t('deck.filter.text', { low: cutoff(status.low_pass_hz), high: cutoff(status.high_pass_hz), slope: status.slope_db_per_octave })],
      [t('deck.left'), status.time_left_seconds === null ? sizeText(status.free_bytes ?? 0)
        : t('deck.left.value', { time: lengthText(status.time_left_seconds), size: sizeText(status.free_bytes ?? 0) })],
      [t('deck.clock'), t(`clock.${status.clock}`)],
      ...(status.scheduled ? [[t('deck.schedule'), t('deck.schedule.value', {
        from: dateText(new Date(status.scheduled.from)), until: dateText(new Date(status.scheduled.until)) })]] : []),
      [t('deck.queue'), this.queue],
    ];
    this.facts.replaceChildren(...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
  }

  #showClock(status) {
    const { t } = this;
    const difference = Math.round((this.context.api.clockDifference ?? 0) / 1000);
    const isUnset = status.clock === 'unset';
    const isOff = Math.abs(difference) > 2;
    const text = isUnset ? t('clock.ask') : isOff ? t('clock.differs', { seconds: Math.abs(difference) }) : '';
    if (this.#shown.clockText === text) return;
    this.#shown.clockText = text;
    this.clockNote.hidden = !text || !this.mayAct;
    this.clockNote.replaceChildren(h('p', {}, text), button(t('clock.set'), () => this.#setClock(), { class: 'primary' }));
  }

  #showLamps(status, isSafe) {
    const { t } = this;
    const isRecording = status.state === 'recording';
    const lamps = {
      record: isRecording ? (isSafe ? 'on' : 'fast') : 'off',
      play: { playing: 'on', paused: 'slow' }[status.state] ?? (!isRecording && status.armed ? 'flash' : 'off'),
      upload: status.pairing ? 'flicker' : this.upload ?? 'off',
    };
    const fault = status.faults.length ? t('lamp.count', { n: Math.min(...status.faults.map(({ code }) => code)) }) : t('lamp.off');
    const rows = [...Object.entries(lamps).map(([name, pattern]) => [name, t(`lamp.${pattern}`)]), ['fault', fault]];
    const key = JSON.stringify(rows);
    if (this.#shown.lamps === key) return;
    this.#shown.lamps = key;
    this.lamps.replaceChildren(...rows.map(([name, text]) => h('li', {}, `${t(`lamp.${name}`)}: `, h('strong', {}, text))));
  }

  /** Combines changes that come in quick succession into one request. */
  #askQueueSoon() {
    this.asking ??= setTimeout(() => {
      this.asking = null;
      this.#askQueue();
    }, askRestMilliseconds);
  }

  async #askQueue() {
    const outbox = await this.context.api.get('/api/outbox?limit=10').catch(() => null);
    if (outbox) this.#text(this.queue, queueText(outbox, this.t));
    const has = (wanted) => outbox?.stores.some(({ state }) => state === wanted);
    this.upload = outbox?.takes.some(({ state }) => state === 'sending') ? 'slow'
      : has('may-be-pulled') ? 'on' : has('stick-offered') ? 'offer' : 'off';
    this.#offerStick(this.mayAct && has('stick-offered'));
  }

  /** Offers to adopt a stick that the kit does not know. */
  #offerStick(isOffered) {
    const { t } = this;
    this.stickNote.hidden = !isOffered;
    if (!isOffered || this.stickNote.hasChildNodes()) return;
    this.stickNote.append(h('p', {}, t('stick.offer')), button(t('stick.adopt'), async () => {
      try {
        await this.context.api.post('/api/stick/adopt');
        this.context.say(t('stick.done'));
      } catch (error) {
        this.context.say(error.message);
      }
      this.#askQueue();
    }, { class: 'primary' }));
  }
}

export function queueText(outbox, t) {
  if (!outbox.stores.length) return t('queue.none');
  const sum = (key) => outbox.stores.reduce((total, store) => total + store[key], 0);
  const parts = [];
  if (outbox.paused) parts.push(t('queue.paused'));
  const sending = outbox.takes.find(({ state }) => state === 'sending');
  if (sending) parts.push(t('queue.sending', { take: sending.take, percent: Math.floor(100 * sending.sent_bytes / Math.max(1, sending.bytes)) }));
  if (sum('waiting')) parts.push(t('queue.waiting', { n: sum('waiting'), size: sizeText(sum('waiting_bytes')) }));
  if (sum('held')) parts.push(t('queue.held', { n: sum('held') }));
  if (!sum('waiting') && !sum('held') && !sending) parts.push(t('queue.done'));
  const why = outbox.stores.find((store) => store.why)?.why;
  if (why) parts.push(why);
  return parts.join('; ');
}
