// The log of both services, newest line first; and the support file for a person who must examine the kit from far away.
import { button, downloadContent, h } from './dom.js';
import { attempt, trouble } from './kit-parts.js';
import { dateText } from './takes-format.js';

/** Lines with at most this severity number get the class (RFC 5424): 3 is error, 4 is warning. */
const kinds = [['is-error', 3], ['is-warning', 4]];

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
