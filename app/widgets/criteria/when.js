/** "Asked only when": whether a criterion is asked, by what was given to the one that its condition names. */

/**
 * The same rule as the server's (annotators/asking/submissions.py); tests/data/asked_when.json holds both to it.
 *
 * @param {Criterion} criterion
 * @param {string} target
 * @param {(criterion: string, target: string) => Pick<Given, 'value' | 'cannot_judge'> | null | undefined} givenTo what was given so far
 */
export function isAsked({ when }, target, givenTo) {
  return !when || [target, 'item'].some((place) => {
    const given = givenTo(when.criterion, place);
    if (!given || given.cannot_judge || given.value === null) return false;
    // A part of a set is a label, a stretch of the answer has one.
    const labels = [given.value].flat().map((part) => String(typeof part === 'object' ? part.label : part));
    return labels.some((label) => when.values.some((wanted) => String(wanted) === label));
  });
}
