// A person's notes about a take: memo and tags.
import { button, field, h } from './dom.js';
import { PositionButton, positionEdit } from './take-position.js';

/** The most bytes that the kit accepts. */
const longestMemo = 4000;

/** Memos that could not be saved before their page was left, by stem. They appear again when the take is opened. */
const drafts = new Map();
let shown = null;
// Closing the page would lose unsaved text, so the browser asks first.
window.addEventListener('beforeunload', (event) => { if (drafts.size || shown?.isEdited) event.preventDefault(); });

export class TakeNotes {
  /**
   * @param {object} take
   * @param {object} options `t`, `mayChange`, `save(changes)` (a promise of the failure, or null).
   */
  constructor(take, { t, mayChange, save }) {
    Object.assign(this, { take, t, mayChange, save });
    // The memo before the edit began here, and the pending save.
    this.base = take.memo ?? null;
    this.saving = Promise.resolve();
    this.memo = h('textarea', { rows: 4, readonly: !mayChange, oninput: () => this.#showState(), onchange: () => this.#saveMemo() });
    this.memo.addEventListener('compositionstart', () => { this.isComposing = true; });
    this.memo.addEventListener('compositionend', () => { this.isComposing = false; });
    this.state = h('p', { role: 'status', class: 'is-warning' });
    this.theirs = h('p', {});
    this.question = h('div', { role: 'alert', hidden: true }, this.theirs,
      h('div', { class: 'row' }, button(t('note.mine'), () => this.#keepMine()), button(t('note.theirs'), () => this.#takeTheirs())));
    this.tags = h('ul', { class: 'note-tags', role: 'list' });
    this.position = mayChange && PositionButton.isOffered ? new PositionButton({
      t, settled: () => this.#settled(), add: (line) => this.#addPosition(line),
    }) : null;
    const input = h('input', { type: 'text', maxlength: 100 });
    const add = h('div', { class: 'note-add' }, field(t('note.tag'), input), button(t('note.add'), () => this.#addTag(input)));
    input.addEventListener('keydown', (event) => { if (event.key === 'Enter') this.#addTag(input); });
    this.element = h('section', { class: 'take-notes', 'aria-labelledby': 'notes-title' },
      h('h2', { id: 'notes-title' }, t('note.title')),
      field(t('note.memo'), this.memo), h('p', { class: 'hint' }, t('note.hint')), this.state, this.question,
      button(t('note.save'), () => this.#saveMemo(), { disabled: !mayChange }),
      this.position?.button, this.position?.hint, this.position?.outcome,
      this.tags, mayChange ? add : null);
    this.show(take);
    const draft = drafts.get(take.take);
    if (draft) {
      drafts.delete(take.take);
      this.memo.value = draft.memo;
      this.base = draft.base;
      this.#showState();
    }
    shown = this;
  }

  /** Closes the editor. An unsaved memo is kept until the take is opened again. Returns whether there is one that is not being saved. */
  close() {
    shown = null;
    this.position?.close();
    if (this.isEdited) drafts.set(this.take.take, { memo: this.memo.value, base: this.base });
    return this.isEdited && !this.isSaving;
  }

  /** Discards unsaved changes of a deleted take. */
  giveUp() {
    this.memo.value = this.take.memo ?? '';
    this.position?.close();
  }

  /** Whether a request for the phone's position is pending. */
  get isLocating() { return this.position?.isWaiting ?? false; }

  /** Compares in the text area's form, because a memo from the command line may have other line ends. */
  get isEdited() { return this.memo.value.trimEnd() !== (this.take.memo ?? '').replace(/\r\n?/g, '\n').trimEnd(); }

  /** Shows the current take. A memo that is being edited stays. */
  show(take) {
    if (!this.isEdited || this.take === take) this.memo.value = take.memo ?? '';
    this.take = take;
    // This also covers a save whose answer was lost.
    if (!this.isEdited) this.base = take.memo ?? null;
    this.#showState();
    this.theirs.textContent = this.t('note.conflict', { memo: take.memo ?? '–' });
    this.tags.replaceChildren(...take.tags.map((tag) => h('li', {}, tag, button('×', () => this.#removeTag(tag), {
      'aria-label': this.t('note.remove', { tag }), disabled: !this.mayChange,
    }))));
  }

  /** Saves a memo that could not be saved before. */
  saveAgain() { if (document.activeElement !== this.memo) this.#saveMemo(); }

  #showState() {
    const text = this.isEdited ? this.t('note.unsaved') : '';
    // Only a changed text is announced.
    if (this.state.textContent !== text) this.state.textContent = text;
  }

  /** Waits while a keyboard composes a word, as phones do for each word. If the memo changed meanwhile, the word would appear twice. */
  async #settled() {
    while (this.isComposing) {
      await new Promise((resolve) => { this.memo.addEventListener('compositionend', () => setTimeout(resolve), { once: true }); });
    }
  }

  /** Puts the line of a position into the memo and saves it, but not while somebody types. Returns the result: `{ text, isFailure }`. */
  #addPosition(line) {
    const { text, from, to } = positionEdit(this.memo.value, line);
    const old = this.memo.value.slice(from, to);
    const bytes = byteCount(this.memo.value) - byteCount(old) + byteCount(text);
    if (bytes > longestMemo) return { text: this.t('position.room', { n: bytes, most: longestMemo }), isFailure: true };
    this.memo.setRangeText(text, from, to, 'preserve');
    this.#showState();
    if (document.activeElement === this.memo) this.memo.addEventListener('blur', () => this.#saveMemo(), { once: true });
    else this.#saveMemo();
    return { text: this.t(old ? 'position.replaced' : 'position.added', { line, old }), isFailure: false };
  }

  /** One save after the other, because each is based on the previous one. */
  #saveMemo() {
    this.saving = this.saving.then(() => this.#saveOnce());
    return this.saving;
  }

  async #saveOnce() {
    if (!this.isEdited || !this.question.hidden) return;
    const memo = this.memo.value.trimEnd() || null;
    this.isSaving = true;
    const failure = await this.save({ memo, memo_was: this.base });
    this.isSaving = false;
    if (!failure) {
      this.base = memo;
      drafts.delete(this.take.take);
    }
    // Another phone changed the memo meanwhile. A person decides which one stays.
    this.question.hidden = failure?.status !== 409 || (this.take.memo ?? null) === this.base;
    this.#showState();
  }

  #keepMine() {
    this.base = this.take.memo ?? null;
    this.question.hidden = true;
    this.memo.focus();
    this.#saveMemo();
  }

  #takeTheirs() {
    this.base = this.take.memo ?? null;
    this.memo.value = this.take.memo ?? '';
    this.position?.forget();
    this.question.hidden = true;
    this.memo.focus();
    this.#showState();
  }

  async #addTag(input) {
    const tag = input.value.trim();
    if (!tag) return;
    if (!await this.save({ add: [tag] })) input.value = '';
  }

  async #removeTag(tag) {
    await this.save({ remove: [tag] });
    this.memo.closest('section').querySelector('.note-add input')?.focus();
  }
}

function byteCount(text) { return new TextEncoder().encode(text).length; }
