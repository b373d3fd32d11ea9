// The settings as a form, built from the kit's schema.
import { button, h } from './dom.js';

export function settingsSection(context) {
  const { api, t } = context;
  const place = h('div', {});
  const problem = h('p', { role: 'alert', class: 'is-error' });
  const section = h('details', { class: 'card' }, h('summary', {}, t('kit.settings')), place, problem);
  section.addEventListener('toggle', async () => {
    if (!section.open) return;
    try {
      const settings = await api.get('/api/settings');
      if (place.renew) place.renew(settings);
      else place.append(form(settings, context, problem, place));
    } catch (error) {
      problem.textContent = error.message;
    }
  });
  return section;
}

const followSeconds = 30;

/** The form in its place, which gets `renew(settings)`: it shows the current settings, and keeps the text that a person has typed. */
function form(settings, { api, t, say }, problem, place) {
  const controls = new Map();
  const outcome = h('p', { role: 'status' });
  const sections = settings.sections.map((section) => h('details', { 'data-name': section.name }, h('summary', {}, `[${section.name}]`),
    ...section.keys.map((key) => {
      const name = `${section.name}.${key.key}`;
      const control = makeControl(key, t);
      control.disabled = !key.changeable;
      controls.set(name, { control, before: textOf(key.value) });
      return h('div', { class: 'settings-key' },
        h('label', { class: 'field' }, h('span', {}, key.key), control),
        h('p', {}, key.purpose), h('p', { class: 'dim' },
          key.changeable ? t('settings.allowed', { values: key.allowed.join(', ') }) : t('settings.byHand', { path: settings.path })),
        name === 'kit.time_zone' && key.changeable ? phoneZone(control, t) : null);
    })));
  const element = h('form', {}, ...settings.problems.map((text) => h('p', { class: 'is-error' }, text)),
    outcome, ...sections,
    h('button', { type: 'submit', class: 'primary' }, t('settings.save')));
  place.renew = (now) => {
    settings = now;
    outcome.textContent = now.outcome ?? '';
    for (const section of now.sections) {
      for (const key of section.keys) {
        const entry = controls.get(`${section.name}.${key.key}`);
        if (!entry) continue;
        const text = textOf(key.value);
        if (entry.control.value === entry.before) setText(entry.control, text);
        entry.before = text;
      }
    }
  };
  place.renew(settings);
  /** The kit carries out a change a moment later, or after the current take, and restarts the services that read the settings. */
  const follow = async (old) => {
    for (let attempt = 0; attempt < followSeconds && element.isConnected; attempt++) {
      await new Promise((end) => { setTimeout(end, 1000); });
      const now = await api.get('/api/settings').catch(() => null);
      if (now && (now.fingerprint !== old.fingerprint || now.outcome !== old.outcome)) return place.renew(now);
    }
    return null;
  };
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.textContent = '';
    const changed = [...controls].filter(([, { control, before }]) => control.value !== before);
    if (!changed.length) { say(t('settings.nothing')); return; }
    try {
      // Null removes the key, so that its default applies. The kit knows the key's type and parses the text.
      const changes = Object.fromEntries(changed.map(([name, { control }]) => [name, control.value || null]));
      await api.patch('/api/settings', { fingerprint: settings.fingerprint, changes });
      say(t('settings.saved'));
      await follow(settings);
    } catch (error) {
      problem.textContent = error.message;
      // Somebody else changed the file. The form now shows their version and can replace it.
      if (error.status === 409) await api.get('/api/settings').then(place.renew, () => {});
    }
  });
  return element;
}

function textOf(value) {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function makeControl(key, t) {
  const control = key.values
    ? h('select', {}, ...['', ...key.values].map((name) => h('option', { value: name }, name || t('settings.default'))))
    : h('input', { type: 'text', autocomplete: 'off', placeholder: t('settings.default') });
  setText(control, textOf(key.value));
  return control;
}

/** A button that fills in the phone's own time zone. */
function phoneZone(control, t) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone ? button(t('settings.phoneZone', { zone }), () => setText(control, zone)) : null;
}

/** The file may have a value that is not one of the choices. It is shown as it is. */
function setText(control, text) {
  control.value = text;
  if (control.value !== text) control.append(h('option', { value: text, selected: true }, text));
}
