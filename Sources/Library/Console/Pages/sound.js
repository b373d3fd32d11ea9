// The one player of all pages, its queue, and its bar at the bottom of the screen.
import { button, h, icon, onColours, setText } from './dom.js';
import { begun, dateText, lengthText, nameText, numberText } from './format.js';
import { normalSettings, Player } from './player.js';
import { takePath } from './take-actions.js';
import { thumbnailPixels, Thumbnails } from './waveform.js';

// The order in which takes are played: that of the list from which one was started.

const pageSize = 50;

/**
 * @typedef {() => Promise<{stems: string[], fetch: Fetch | null}>} Fetch Fetches the stems that follow, and how to fetch those after them.
 */

/** The stems of takes in order. Those at both ends are fetched when they are needed. */
export class Queue {
  #stems;
  #more;

  /**
   * @param {string[]} stems
   * @param {Fetch | null} after Fetches those after these; null if there are none.
   * @param {Fetch | null} before Fetches those before these, the nearest one first.
   */
  constructor(stems, after = null, before = null) {
    this.#stems = [...stems];
    this.#more = new Map([[1, after], [-1, before]]);
  }

  has(stem) { return this.#stems.includes(stem); }

  /** The stem after (`step` is 1) or before (-1) another one; null if there is none. */
  async step(stem, step) {
    for (;;) {
      const index = this.#stems.indexOf(stem);
      const found = index < 0 ? null : this.#stems[index + step];
      if (found !== undefined) return found;
      const fetch = this.#more.get(step);
      if (!fetch) return null;
      const answer = await fetch();
      this.#more.set(step, answer.fetch);
      const fresh = answer.stems.filter((one) => !this.has(one));
      if (step > 0) this.#stems.push(...fresh);
      else this.#stems.unshift(...fresh.reverse());
    }
  }
}

/**
 * Fetches the rest of a list.
 * @param {(path: string) => Promise<object>} get
 * @param {string} query The list's conditions.
 * @param {string | null} after The key of the next page; null after the last one.
 */
export function restOf(get, query, after) {
  if (after === null) return null;
  return async () => {
    const { takes, next } = await get(`/api/takes?${query}&limit=${pageSize}${after && `&after=${encodeURIComponent(after)}`}`);
    return { stems: takes.map(({ take }) => take), fetch: restOf(get, query, next) };
  };
}

/** The queue of a take that was opened by itself: older ones follow, and newer ones are before it. */
export function queueFrom({ take, started, started_corrected: corrected }, get) {
  const begun = encodeURIComponent(corrected ?? started);
  return new Queue([take], restOf(get, `until=${begun}`, ''), restOf(get, `since=${begun}&sort=oldest`, ''));
}

// The player at the bottom of each page: what plays, where, and the next take.

class SoundBar {
  #shown = '';
  #time = '';
  #stem = '';
  #isSeeking = false;
  #thumbnails = new Thumbnails();

  /** @param {object} sound The `Sound` that is shown. */
  constructor(sound, { t }) {
    Object.assign(this, { sound, t });
    this.toggle = h('button', { type: 'button', class: 'sound-button', onclick: () => sound.playOrPause() });
    this.title = h('a', { class: 'sound-title' });
    this.time = h('span', { class: 'sound-time' });
    this.canvas = h('canvas', { width: thumbnailPixels, height: 40, 'aria-hidden': 'true' });
    this.seek = h('input', {
      type: 'range', min: 0, step: 'any', class: 'sound-seek', 'aria-label': t('take.position'),
      onpointerdown: () => { this.#isSeeking = true; }, onchange: () => this.#seek(),
    });
    this.element = h('section', { class: 'sound', 'aria-label': t('play.title'), hidden: true },
      this.toggle, this.title, h('div', { class: 'sound-wave' }, this.canvas, this.seek), this.time,
      h('button', { type: 'button', class: 'sound-button', 'aria-label': t('play.next'), title: t('play.next'), onclick: () => sound.step(1) }, icon('skip')),
      button('×', () => sound.close(), { class: 'sound-button sound-close', 'aria-label': t('play.close'), title: t('play.close') }));
    addEventListener('pointerup', () => { this.#isSeeking = false; });
    onColours(() => { if (!this.element.hidden) this.#thumbnails.redraw([this.canvas]); });
    sound.on(() => this.#show());
  }

  #seek() {
    this.#isSeeking = false;
    this.sound.player.seek(Number(this.seek.value));
  }

  #show() {
    const { sound: { player, isShown }, t } = this;
    if (this.element.hidden === isShown) this.element.hidden = !isShown;
    if (!isShown) return;
    const { take, isPlaying, frame } = player;
    this.#showTake(take);
    const shown = String(isPlaying);
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.toggle.replaceChildren(icon(isPlaying ? 'pause' : 'play'));
      this.toggle.setAttribute('aria-label', t(isPlaying ? 'play.pause' : 'deck.play'));
    }
    if (!this.#isSeeking) this.seek.value = frame;
    this.#showTime(take, frame);
  }

  #showTake(take) {
    const { seek, title, t } = this;
    const text = nameText(take, t);
    setText(title, text);
    if (take.take === this.#stem) return;
    this.#stem = take.take;
    this.#time = '';
    title.href = `#/takes/${encodeURIComponent(take.take)}`;
    seek.max = take.frames;
    this.canvas.getContext('2d').clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.#thumbnails.observe(this.canvas, take);
  }

  #showTime(take, frame) {
    const { t, sound: { settings: { speed }, player } } = this;
    const seconds = Math.floor(frame / take.rate_hz);
    const more = [player.where === 'kit' && t('play.kit'), speed !== 1 && `${numberText(speed, 2)} ×`].filter(Boolean).join(', ');
    const key = `${seconds} ${more}`;
    if (key === this.#time) return;
    this.#time = key;
    const [time, length] = [lengthText(seconds), lengthText(take.duration_seconds)];
    this.time.textContent = [`${time} / ${length}`, more].filter(Boolean).join(' · ');
    this.seek.setAttribute('aria-valuetext', t('take.at', { time, length }));
  }
}

// The one player of all pages. It stays while pages change; `SoundBar` shows it at the bottom of the screen.

/** "Back" after this time, in seconds, goes to the beginning of the take, and before it to the take before. */
const restartSeconds = 3;

/** The player of the page. @param {object} context The page's context. */
export function soundOf(context) {
  if (!context.sound) {
    context.sound = new Sound(context);
    context.places.sound.replaceChildren(new SoundBar(context.sound, context).element);
  }
  return context.sound;
}

export class Sound {
  #player = null;
  #players = new Set();
  #follows = new WeakMap();
  #handlers = new Set();
  #covered = null;
  /** The queue of the list that was shown last, for the pages of its takes. */
  list = null;
  /** Those of all takes, until the page is closed. */
  settings = { ...normalSettings };

  constructor(context) {
    this.context = context;
    const { events } = context;
    events.on('status', (status) => this.heard(status));
    events.on('level', (level) => this.#pass((player) => player.located(level.position_seconds ?? null)));
    events.on('catalog', (event) => this.#changed(event));
    this.#takeMediaKeys();
  }

  /** Calls `handler` with each change of the player, also many times a second while it plays. Returns a function that ends this. */
  on(handler) {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /** The player of the take that plays or was played last; null without one. */
  get player() { return this.#player; }

  /** Whether the bar is to be shown. The page of the take has buttons of its own. */
  get isShown() { return this.#player !== null && this.#player.take.take !== this.#covered; }

  /** Whether a take is heard: `playing`, `paused` or `none`. */
  stateOf(stem) {
    if (this.#player?.take.take !== stem) return 'none';
    return this.#player.isPlaying ? 'playing' : 'paused';
  }

  /** The page of a take shows its player; null if none does. */
  cover(stem) {
    this.#covered = stem;
    this.#tell();
  }

  /**
   * The player of a take. It becomes that of all pages once it plays.
   * @param {object} take An entry of `/api/takes`.
   * @param {Queue} queue What is before and after the take.
   * @param {boolean} goesOn Whether the next take follows by itself.
   */
  playerOf(take, queue = new Queue([take.take]), goesOn = false) {
    const current = this.#player;
    if (current?.take.take === take.take) {
      if (current.isPlaying || current.take.frames === take.frames) {
        if (!this.#follows.get(current).queue.has(take.take)) this.#follows.set(current, { queue, goesOn });
        return current;
      }
      // The take was continued.
      const { frame } = current;
      this.#release(current);
      this.#player = this.#make(take, queue, goesOn);
      this.#player.seek(frame);
      return this.#player;
    }
    return this.#make(take, queue, goesOn);
  }

  /** A page that used a player is left. */
  leave(player) { if (player !== this.#player) this.#release(player); }

  /** Plays a take of a list, or pauses it. One that was not played before begins at a frame. */
  toggle(take, queue, frame = null) {
    const player = this.#playerIn(queue, take);
    if (player.isPlaying) {
      player.pause();
      return;
    }
    if (frame !== null && player !== this.#player) player.seek(frame);
    player.play();
  }

  /** Pauses the player, or goes on. */
  playOrPause() {
    const player = this.#player;
    if (player.isPlaying) player.pause();
    else player.play();
  }

  /** Plays a take of a list from a frame on. */
  playFrom(take, queue, frame) {
    const player = this.#playerIn(queue, take);
    player.seek(frame);
    player.play();
  }

  #playerIn(queue, take) {
    const player = this.playerOf(take, queue, true);
    this.#follows.set(player, { queue, goesOn: true });
    return player;
  }

  /** Plays the next take of the queue, or for -1 the one before. @param {boolean} isAsked Whether a person wants it. */
  async step(step, isAsked = true) {
    const player = this.#player;
    if (!player) return;
    const { queue, goesOn } = this.#follows.get(player);
    try {
      const take = await this.#find(queue, player.take.take, step);
      if (player !== this.#player) return;
      if (take) this.#make(take, queue, goesOn).play();
      else if (step < 0) player.seek(0);
      else if (isAsked) this.context.say(this.context.t('deck.last'));
    } catch (error) {
      this.context.fail(error);
    }
  }

  /** The next take of a queue that exists; null if there is none. */
  async #find(queue, from, step) {
    for (let stem = await queue.step(from, step); stem !== null; stem = await queue.step(stem, step)) {
      try {
        return (await this.context.api.get(takePath(stem))).take;
      } catch (error) {
        if (error.status !== 404) throw error;
      }
    }
    return null;
  }

  /** Goes to the beginning of the take, or from there to the take before. */
  previous() {
    if (!this.#player) return;
    if (this.#player.frame > restartSeconds * this.#player.take.rate_hz) this.#player.seek(0);
    else this.step(-1);
  }

  /** Ends the player. */
  close() {
    const player = this.#player;
    if (!player) return;
    this.#player = null;
    this.#end(player);
    this.#tell();
  }

  #make(take, queue, goesOn) {
    const { api, fail } = this.context;
    const player = new Player(take, {
      api, settings: this.settings, onStart: () => this.#started(player), onChange: () => this.#tell(player), onFail: fail,
      onEnd: () => { if (player === this.#player && this.#follows.get(player).goesOn) this.step(1, false); },
    });
    this.#follows.set(player, { queue, goesOn });
    this.#players.add(player);
    return player;
  }

  /** Ends a player. One that the page of its take shows is only paused. */
  #end(player) {
    if (player.take.take === this.#covered) player.pause();
    else this.#release(player);
  }

  #release(player) {
    player.close();
    this.#players.delete(player);
  }

  #started(player) {
    if (player === this.#player) return;
    const before = this.#player;
    this.#player = player;
    if (before) this.#end(before);
    this.#showMedia(player.take);
  }

  /** Handles a status of the recorder. */
  heard(status) { this.#pass((player) => player.heard(status)); }

  /** Passes an event of the recorder on. While one player plays, no other one follows the kit. */
  #pass(body) {
    if (this.#player?.isPlaying) body(this.#player);
    else for (const player of this.#players) body(player);
  }

  async #changed({ what, take: stem }) {
    const player = this.#player;
    if (player?.take.take !== stem) return;
    if (what === 'removed') {
      this.close();
      return;
    }
    const answer = await this.context.api.get(takePath(stem)).catch(() => null);
    if (!answer || player !== this.#player || answer.take.frames !== player.take.frames) return;
    player.take = answer.take;
    this.#tell(player);
    this.#showMedia(answer.take);
  }

  #tell(player = this.#player) { for (const handler of [...this.#handlers]) handler(player); }

  // The keys of keyboards, headphones and lock screens.

  #takeMediaKeys() {
    const { mediaSession } = navigator;
    if (!mediaSession) return;
    const actions = {
      play: () => this.#player?.play(), pause: () => this.#player?.pause(), nexttrack: () => this.step(1), previoustrack: () => this.previous(),
    };
    for (const [name, action] of Object.entries(actions)) mediaSession.setActionHandler(name, action);
  }

  #showMedia(take) {
    if (!navigator.mediaSession) return;
    navigator.mediaSession.metadata = new MediaMetadata({ title: nameText(take, this.context.t), artist: take.kit, album: dateText(begun(take), false) });
  }
}
