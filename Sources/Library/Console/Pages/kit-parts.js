// Parts that the sections of the kit's page share.
import { h } from './dom.js';

/** Does something that may be refused; the sentence is shown in `problem`. */
export async function attempt(problem, body) {
  problem.textContent = '';
  try {
    return await body();
  } catch (error) {
    problem.textContent = error.message;
    return null;
  }
}

/** A part of the page with a heading. */
export const section = (title, ...children) => h('section', { class: 'card' }, h('h2', {}, title), ...children);

/** The place for a sentence of what went wrong. */
export const trouble = () => h('p', { role: 'alert', class: 'is-error' });

/** Names with values. */
export const facts = (rows) => h('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
