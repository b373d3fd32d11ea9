// What a person writes of a take: memo and tags.
import { button, field, h } from './dom.js';

/** The editor of a take's notes. */
export class TakeNotes {
  /**
   * @param {object} take
   * @param {object} options `t`, `mayChange`, `save(changes)` (a promise of the changed take).
   */
  constructor(take, { t, mayChange, save }) {
    Object.assign(this, { take, t, mayChange, save });
    this.memo = h('textarea', { rows: 4, readonly: !mayChange, onchange: () => this.#saveMemo() });
    this.tags = h('ul', { class: 'note-tags', role: 'list' });
    const input = h('input', { type: 'text', maxlength: 100 });
    const add = h('div', { class: 'note-add' }, field(t('note.tag'), input), button(t('note.add'), () => this.#addTag(input)));
    input.addEventListener('keydown', (event) => { if (event.key === 'Enter') this.#addTag(input); });
    this.element = h('section', { class: 'take-notes', 'aria-labelledby': 'notes-title' },
      h('h2', { id: 'notes-title' }, t('note.title')),
      field(t('note.memo'), this.memo), h('p', { class: 'hint' }, t('note.hint')),
      button(t('note.save'), () => this.#saveMemo(), { disabled: !mayChange }),
      this.tags, mayChange ? add : null);
    this.show(take);
  }

  /** Shows a take as it is now; a memo that is being written stays. */
  show(take) {
    const isEdited = this.memo.value !== (this.take.memo ?? '');
    if (!isEdited || this.take === take) this.memo.value = take.memo ?? '';
    this.take = take;
    this.tags.replaceChildren(...take.tags.map((tag) => h('li', {}, tag, button('×', () => this.#removeTag(tag), {
      'aria-label': this.t('note.remove', { tag }), disabled: !this.mayChange,
    }))));
  }

  async #saveMemo() {
    const memo = this.memo.value.trimEnd() || null;
    if (memo === this.take.memo) return;
    await this.save({ memo });
  }

  async #addTag(input) {
    const tag = input.value.trim();
    if (!tag) return;
    input.value = '';
    await this.save({ add: [tag] });
  }

  async #removeTag(tag) {
    await this.save({ remove: [tag] });
    this.memo.closest('section').querySelector('.note-add input')?.focus();
  }
}
