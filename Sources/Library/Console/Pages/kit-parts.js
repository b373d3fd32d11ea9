// Parts that the sections of the kit's page share.
import { h } from './dom.js';

/** Runs an action that may be refused, and shows the error in `problem`. */
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

/** The element for error messages. */
export const trouble = () => h('p', { role: 'alert', class: 'is-error' });

export const facts = (rows) => h('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
