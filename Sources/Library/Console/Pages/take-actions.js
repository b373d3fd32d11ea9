// Actions on takes: deleting, sending again, downloading; and their confirmation questions.

/** The most takes of one archive, because their names are in its address. */
export const mostInArchive = 200;

export const takePath = (stem) => `/api/takes/${encodeURIComponent(stem)}`;

/** A sentence with a number: `KEY.one` or `KEY.other`. */
export function counted(t, key, n) {
  return t(`${key}.${n === 1 ? 'one' : 'other'}`, { n });
}

/**
 * The question before takes are deleted: which copies will remain.
 * @param {object[]} takes
 * @param {'here'|'there'|'both'} where
 */
export function deleteQuestion(takes, where, t) {
  const safe = takes.filter((take) => take.upload === 'done').length;
  const lost = takes.length - safe;
  const sentences = [counted(t, `takes.delete.${where}`, takes.length)];
  if (where === 'here' && takes.length === 1) sentences.push(t(safe ? 'takes.delete.safe.it' : 'takes.delete.lost.it'));
  if (where === 'here' && takes.length > 1) {
    if (safe) sentences.push(counted(t, 'takes.delete.safe', safe));
    if (lost) sentences.push(counted(t, 'takes.delete.lost', lost));
  }
  if (where === 'here') sentences.push(t('takes.delete.bin'));
  if (where === 'there') sentences.push(t('takes.delete.kept'));
  if (where === 'both') sentences.push(t('takes.delete.nothing'));
  if (where !== 'here') sentences.push(t('takes.delete.final'));
  return sentences.join(' ');
}

/**
 * The path of the request that deletes copies of a take. The request fails if the safety stated in the question no longer holds.
 * @param {object} take its state when the question was asked
 * @param {'here'|'there'|'both'} where
 */
export function deletePath(take, where) {
  const condition = where === 'here' && take.upload === 'done' ? '&left=home' : '';
  return `${takePath(take.take)}?where=${where}${condition}`;
}

/** The address of several takes as one file. */
export function archiveURL(stems) {
  return `/api/archive?${stems.map((stem) => `take=${encodeURIComponent(stem)}`).join('&')}`;
}

/**
 * Runs an action for each take, one after the other, and continues after a failure.
 * @returns {Promise<{done: object[], errors: Error[]}>}
 */
export async function each(takes, body) {
  const done = [];
  const errors = [];
  for (const take of takes) {
    try {
      await body(take);
      done.push(take);
    } catch (error) {
      errors.push(error);
    }
  }
  return { done, errors };
}

/**
 * Reports that takes were deleted from the kit, with a button that restores them from the bin.
 * @param {string[]} stems
 * @param {() => void} restored called after the attempt
 */
export function offerUndo(context, stems, restored) {
  const { t } = context;
  const undo = async () => {
    const { done, errors } = await each(stems, (stem) => context.api.post(`${takePath(stem)}/restore`));
    if (errors.length) context.fail(errors[0]);
    else context.say(counted(t, 'takes.restored', done.length));
    restored();
  };
  // A recorder of an older version has no bin.
  const hasBin = Number.isInteger(context.status()?.bin_bytes);
  context.say(counted(t, 'takes.deleted', stems.length), hasBin && stems.length ? { text: t('takes.undo'), run: undo } : null);
}
