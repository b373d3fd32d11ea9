// The page of a phone that is not paired.
import { button, field, h } from './dom.js';

/** Shows how a phone is paired, and pairs it. */
export function pairPage(root, context) {
  const { t, api } = context;
  const name = h('input', { type: 'text', maxlength: '60', value: deviceName(t), autocomplete: 'off' });
  const state = h('p', { role: 'status' }, t('pair.waiting'));
  const problem = h('p', { role: 'alert', class: 'is-error' });
  const pairing = button(t('pair.do'), () => pair({}), { class: 'primary', disabled: true });

  async function pair(more) {
    problem.textContent = '';
    try {
      await api.post('/api/session', { name: name.value.trim() || t('pair.phone'), ...more });
      await context.refresh();
    } catch (error) {
      problem.textContent = error.message;
    }
  }
  async function look() {
    const session = await api.get('/api/session').catch(() => null);
    if (!session) return;
    pairing.disabled = !session.pairing;
    state.textContent = t(session.pairing ? 'pair.open' : 'pair.waiting');
  }
  root.append(
    h('h1', {}, t('pair.title')), h('p', {}, t('pair.how')),
    h('div', { class: 'card' }, h('div', { class: 'row' }, field(t('pair.name'), name, 'field grow'), pairing), state, problem));
  if (context.session().password) {
    const password = h('input', { type: 'password', autocomplete: 'current-password' });
    const form = h('form', { class: 'row' }, field(t('pair.password'), password, 'field grow'), h('button', { type: 'submit' }, t('pair.with')));
    form.addEventListener('submit', (event) => { event.preventDefault(); pair({ password: password.value }); });
    root.append(h('div', { class: 'card' }, form));
  }
  look();
  const timer = setInterval(look, 2000);
  return () => clearInterval(timer);
}

function deviceName(t) {
  const system = /iPhone|iPad|Android|Windows|Mac OS|Linux/.exec(navigator.userAgent)?.[0];
  return system ? `${t('pair.phone')} (${system})` : t('pair.phone');
}
