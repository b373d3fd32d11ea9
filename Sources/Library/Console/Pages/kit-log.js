// The log of both services, the newest line first; and the file for somebody far away who is to understand the kit.
import { button, downloadContent, h } from './dom.js';
import { attempt, trouble } from './kit-parts.js';
import { dateText } from './takes-format.js';

/** Lines of a worse kind than this one are shown as such (RFC 5424): 3 is an error, 4 a warning. */
const kinds = [['is-error', 3], ['is-warning', 4]];

/** The section of the kit's page. */
export function logSection({ api, t }) {
  const list = h('ol', { class: 'plain log' });
  const problem = trouble();
  let next = null;
  const load = (isFirst) => attempt(problem, async () => {
    const page = await api.get(`/api/log?limit=100${isFirst ? '' : `&after=${encodeURIComponent(next)}`}`);
    if (isFirst) list.replaceChildren();
    list.append(...(page.lines.length ? page.lines.map(item) : [h('li', {}, t('kit.none'))]));
    next = page.next;
    more.hidden = next === null;
  });
  const more = button(t('log.more'), () => load(false), { hidden: true });
  const again = button(t('kit.again'), () => load(true));
  const support = button(t('support.make'), () => attempt(problem, async () => {
    support.disabled = true;
    try {
      const { name, content } = await api.file('/api/support');
      downloadContent(content, name);
    } finally {
      support.disabled = false;
    }
  }));
  const section = h('details', { class: 'card' }, h('summary', {}, t('log.title')), again, support, h('p', { class: 'dim' }, t('support.about')), list, more, problem);
  section.addEventListener('toggle', () => { if (section.open && !list.childElementCount) load(true); });
  return section;
}

function item({ time, priority, from, text }) {
  const kind = kinds.find(([, worst]) => priority <= worst)?.[0] ?? '';
  return h('li', { class: kind }, h('span', { class: 'dim' }, `${dateText(new Date(time))} ${from}`), h('br'), text);
}
