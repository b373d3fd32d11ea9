// The page of a phone that is not paired.
import { field, h } from './dom.js';

/** Explains how a phone is paired, and pairs it. */
export function pairPage(root, context) {
  const { t, api } = context;
  const name = h('input', { type: 'text', maxlength: '60', value: deviceName(t), autocomplete: 'off' });
  const state = h('p', { role: 'status' }, t('pair.waiting'));
  const problem = h('p', { role: 'alert', class: 'is-error' });
  const code = h('input', { type: 'text', inputmode: 'numeric', autocomplete: 'one-time-code', pattern: '[0-9]{6}', maxlength: '6', required: true });
  const pairing = h('button', { type: 'submit', class: 'primary', disabled: true }, t('pair.do'));
  const form = h('form', { class: 'row' }, field(t('pair.name'), name, 'field grow'), field(t('pair.code'), code, 'field'), pairing);
  form.addEventListener('submit', (event) => { event.preventDefault(); pair({ code: code.value }); });

  async function pair(more) {
    problem.textContent = '';
    try {
      await api.post('/api/session', { name: name.value.trim() || t('pair.phone'), ...more });
      await context.refresh();
    } catch (error) {
      problem.textContent = error.message;
      code.value = '';
      look();
    }
  }
  async function look() {
    const session = await api.get('/api/session').catch(() => null);
    if (!session) return;
    pairing.disabled = !session.pairing;
    state.textContent = t(session.pairing ? 'pair.open' : `pair.${session.pairing_ended ?? 'waiting'}`);
  }
  root.append(
    h('h1', {}, t('pair.title')), h('p', {}, t('pair.how')),
    h('div', { class: 'card' }, form, state, problem));
  if (context.session().password) {
    const password = h('input', { type: 'password', autocomplete: 'current-password' });
    const other = h('form', { class: 'row' }, field(t('pair.password'), password, 'field grow'), h('button', { type: 'submit' }, t('pair.with')));
    other.addEventListener('submit', (event) => { event.preventDefault(); pair({ password: password.value }); });
    root.append(h('div', { class: 'card' }, other));
  }
  look();
  const timer = setInterval(look, 2000);
  return () => clearInterval(timer);
}

function deviceName(t) {
  const system = /iPhone|iPad|Android|Windows|Mac OS|Linux/.exec(navigator.userAgent)?.[0];
  return system ? `${t('pair.phone')} (${system})` : t('pair.phone');
}
