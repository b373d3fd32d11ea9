// The technical data of a take: the values of its sidecar as a table.
import { begun, dateText, lengthText, numberText, sizeText } from './takes-format.js';
import { h } from './dom.js';

const mostListed = 50;

export function factsTable({ take, sidecar, notes }, t) {
  const rows = [...origin(take, sidecar, t), ...sound(sidecar, t), ...places(sidecar, t), ...files(take, sidecar, notes, t)];
  return h('table', { class: 'take-data' }, h('tbody', {}, ...rows.filter(([, text]) => text).map(([name, text]) =>
    h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, text)))));
}

function origin(take, sidecar, t) {
  return [
    [t('fact.take'), `${take.take}, ${t('fact.revision', { n: sidecar.revision })}`],
    [t('fact.kit'), take.kit],
    [t('fact.started'), `${dateText(begun(take), true)} (${t(`fact.clock.${take.clock}`)})`],
    [t('fact.first'), take.started_corrected && t('fact.corrected', { time: dateText(new Date(take.started), true) })],
    [t('fact.length'), t('fact.frames', { time: lengthText(take.duration_seconds, 3), frames: numberText(take.frames) })],
    [t('fact.preroll'), sidecar.pre_roll_frames > 0 && lengthText(sidecar.pre_roll_frames / sidecar.rate_hz, 3)],
    [t('fact.ended'), [t(`fact.ended.${take.ended_by ?? 'unknown'}`), take.recovered && t('fact.recovered'),
      sidecar.started_by && t(`fact.begun.${sidecar.started_by}`)].filter(Boolean).join(', ')],
  ];
}

function sound(sidecar, t) {
  const filters = sidecar.filter.slice(0, mostListed).map((change) => [t('fact.filter'), filterText(change, sidecar, t)]);
  const levels = sidecar.levels.map((level, index) => [t('fact.level', { n: index + 1 }), levelText(level, t)]);
  const channels = sidecar.channels_of_card ? t('fact.channels.some', { list: sidecar.channels_of_card.join(', ') })
    : t('fact.channels', { n: sidecar.channels });
  return [
    [t('fact.card'), cards(sidecar).join(', ')],
    [t('fact.format'), `${numberText(sidecar.rate_hz)} Hz, ${channels}, ${sidecar.format}`],
    [t('fact.gain'), typeof sidecar.gain_db === 'number' && `${numberText(sidecar.gain_db, 1)} dB`],
    [t('fact.agc'), typeof sidecar.agc === 'boolean' && t(sidecar.agc ? 'fact.on' : 'fact.off')],
    [t('fact.drift'), typeof sidecar.clock_drift_ppm === 'number' && `${numberText(sidecar.clock_drift_ppm, 1)} ppm`],
    ...filters, ...levels,
  ];
}

/** The cards of a take, each with its port if the parts have several. */
function cards(sidecar) {
  const all = sidecar.parts.filter((part) => part.card).map((part) => part.card + (part.port ? ` (USB ${part.port})` : ''));
  const each = [...new Set(all)];
  return each.length > 1 ? each : [sidecar.card];
}

function places(sidecar, t) {
  const at = (frame) => lengthText(frame / sidecar.rate_hz, 3);
  const gaps = sidecar.gaps.slice(0, mostListed).map((gap) => [t('fact.gap'), t('fact.gap.text', {
    time: at(gap.at_frame), frames: numberText(gap.frames), count: gap.count ?? 1, cause: t(`fact.cause.${gap.cause}`),
  })]);
  const losses = (sidecar.suspected_losses ?? []).slice(0, mostListed).map((loss) => [t('fact.loss'), t('fact.loss.text', {
    from: at(loss.after_frame), to: at(loss.before_frame), frames: numberText(loss.frames),
  })]);
  return [...gaps, ...losses];
}

function files(take, sidecar, notes, t) {
  const path = `/api/takes/${encodeURIComponent(take.take)}/files/`;
  const link = (name) => h('a', { href: path + encodeURIComponent(name), download: name }, name);
  const parts = sidecar.parts.flatMap((part) => [
    [t('fact.file'), h('span', {}, link(part.file), part.first_frame > 0 ? `, ${t('fact.from', { time: lengthText(part.first_frame / sidecar.rate_hz, 3) })}` : '')],
    [t('fact.raw'), part.unfiltered_file && link(part.unfiltered_file)],
  ]);
  const receipts = (notes.receipts ?? []).filter((receipt) => receipt.completed).map((receipt) =>
    [t('fact.store'), t('fact.stored', { store: receipt.stick ? `${receipt.store} ${receipt.stick.slice(0, 8)}` : receipt.store, time: dateText(new Date(receipt.completed), false) })]);
  return [
    ...parts, [t('fact.size'), sizeText(take.bytes)], [t('fact.folder'), take.folder], ...receipts,
    [t('fact.pending'), take.pending_format && t('fact.pending.text', { format: take.pending_format })],
    [t('fact.version'), sidecar.version],
  ];
}

function filterText({ at_frame: frame, low_pass_hz: low, high_pass_hz: high, slope_db_per_octave: slope }, sidecar, t) {
  const parts = [
    low !== null && t('fact.lowpass', { hz: numberText(low), slope }), high !== null && t('fact.highpass', { hz: numberText(high), slope }),
  ].filter(Boolean).join(', ') || t('fact.off');
  return frame > 0 ? `${t('fact.from', { time: lengthText(frame / sidecar.rate_hz, 3) })}: ${parts}` : parts;
}

function levelText(level, t) {
  const decibels = (value) => (value === null ? '−∞' : numberText(value, 1));
  const clipped = level.clipped_frames + level.filter_clipped_frames;
  const text = t('fact.level.text', { peak: decibels(level.peak_dbfs), rms: decibels(level.rms_dbfs) });
  return clipped ? `${text}, ${t('fact.clipped', { n: numberText(clipped) })}` : text;
}
