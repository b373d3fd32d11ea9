// Updates of the kit's image: a file that the phone sends, and the kit's report about it.
import { button, field, h } from './dom.js';
import { attempt, section, trouble } from './kit-parts.js';

const pause = 2000;

/** The section of the kit's page. `element.end()` ends it. */
export function updateSection({ api, t }) {
  const state = h('p', {});
  const report = h('ul', { class: 'plain', role: 'status' });
  const problem = trouble();
  // No `accept`, because phones do not offer files of unknown types.
  const file = h('input', { type: 'file' });
  let timer = 0;
  let ended = false;

  const show = (reply) => {
    state.textContent = t(`update.${reply.state}`);
    report.replaceChildren(...reply.report.map(({ good, text }) => h('li', { class: good ? '' : 'is-error' }, text)));
    form.hidden = reply.state === 'unavailable';
    send.disabled = reply.state !== 'idle';
  };
  const later = () => { if (!ended) timer = setTimeout(look, pause); };
  const look = async () => {
    clearTimeout(timer);
    const reply = await attempt(problem, () => api.get('/api/update'));
    if (reply) show(reply);
    // The kit may restart now and not answer for a minute.
    if (reply?.state !== 'idle' && reply?.state !== 'unavailable') later();
  };
  const send = button(t('update.send'), () => attempt(problem, async () => {
    const [chosen] = file.files;
    if (!chosen) throw new Error(t('update.none'));
    clearTimeout(timer);
    send.disabled = true;
    state.textContent = t('update.sending', { name: chosen.name });
    try {
      show(await api.put(`/api/update/${encodeURIComponent(chosen.name)}`, chosen));
    } catch (error) {
      await look();
      throw error;
    }
    later();
  }));
  const form = h('div', { class: 'row' }, field(t('update.file'), file), send);
  look();
  const element = section(t('update.title'), state, form, report, problem);
  element.end = () => { ended = true; clearTimeout(timer); };
  return element;
}
