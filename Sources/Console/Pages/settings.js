// The settings as a form, made from the schema that the kit sends.
import { h } from './dom.js';

/** The section of the kit's page. */
export function settingsSection(context) {
  const { api, t } = context;
  const place = h('div', {});
  const problem = h('p', { role: 'alert', class: 'is-error' });
  const section = h('details', { class: 'card' }, h('summary', {}, t('kit.settings')), place, problem);
  const show = (settings) => {
    const open = [...place.querySelectorAll('details[open]')].map(({ dataset }) => dataset.name);
    place.replaceChildren(form(settings, context, problem, follow));
    for (const part of place.querySelectorAll('details')) part.open = open.includes(part.dataset.name);
  };
  /** Shows what becomes of a change: the kit carries it out a moment later, and starts again what reads the settings. */
  const follow = async (settings) => {
    for (let attempt = 0; attempt < followSeconds && section.isConnected; attempt++) {
      await new Promise((end) => { setTimeout(end, 1000); });
      const now = await api.get('/api/settings').catch(() => null);
      if (now && (now.fingerprint !== settings.fingerprint || now.outcome !== settings.outcome)) {
        show(now);
        return;
      }
    }
  };
  section.addEventListener('toggle', async () => {
    if (!section.open || place.childElementCount) return;
    try {
      show(await api.get('/api/settings'));
    } catch (error) {
      problem.textContent = error.message;
    }
  });
  return section;
}

const followSeconds = 30;

function form(settings, { api, t, say }, problem, follow) {
  const controls = new Map();
  const sections = settings.sections.map((section) => h('details', { 'data-name': section.name }, h('summary', {}, `[${section.name}]`),
    ...section.keys.map((key) => {
      const name = `${section.name}.${key.key}`;
      const control = makeControl(key, t);
      controls.set(name, { control, before: control.value });
      return h('div', { class: 'settings-key' },
        h('label', { class: 'field' }, h('span', {}, key.key), control),
        h('p', {}, key.purpose), h('p', { class: 'dim' }, t('settings.allowed', { values: key.allowed.join(', ') })));
    })));
  const element = h('form', {}, ...settings.problems.map((text) => h('p', { class: 'is-error' }, text)),
    settings.outcome ? h('p', { role: 'status' }, settings.outcome) : null, ...sections,
    h('button', { type: 'submit', class: 'primary' }, t('settings.save')));
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.textContent = '';
    const changed = [...controls].filter(([, { control, before }]) => control.value !== before);
    if (!changed.length) { say(t('settings.nothing')); return; }
    try {
      const changes = Object.fromEntries(changed.map(([name, { control }]) => [name, valueOf(control.value)]));
      await api.patch('/api/settings', { fingerprint: settings.fingerprint, changes });
      say(t('settings.saved'));
      await follow(settings);
    } catch (error) {
      problem.textContent = error.message;
    }
  });
  return element;
}

function makeControl(key, t) {
  const value = key.value === undefined || key.value === null ? '' : typeof key.value === 'object' ? JSON.stringify(key.value) : String(key.value);
  if (key.values) {
    const control = h('select', {}, ...['', ...key.values].map((name) => h('option', { value: name }, name || t('settings.default'))));
    control.value = value;
    return control;
  }
  return h('input', { type: 'text', value, autocomplete: 'off', placeholder: t('settings.default') });
}

/** What is written; null takes the key away, so that its default is in force. */
function valueOf(text) {
  if (text === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^[[{]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  // A name such as 007 is a text.
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text;
}
