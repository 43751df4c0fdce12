/** "Asked only when": whether a criterion is asked, by what was given to the one that its condition names. */

/**
 * The same rule as the server's (annotators/asking/submissions.py); tests/data/asked_when.json holds both to it.
 *
 * @param {Criterion} criterion
 * @param {string} target
 * @param {(criterion: string, target: string) => Pick<Given, 'value' | 'cannot_judge'> | null | undefined} givenTo what was given so far
 */
export function isAsked({ when }, target, givenTo) {
  return !when || [target, 'item'].some((place) => isOneOf(when, givenTo(when.criterion, place)));
}

/**
 * What a label breaks: the rule of the protocol that it cannot stand by beside the others, or null.
 *
 * The server refuses it with the same sentence (annotators/protocols/consequences.py).
 *
 * @param {Consequence[]} consequences
 * @param {string} criterion
 * @param {string} target
 * @param {(criterion: string, target: string) => Pick<Given, 'value' | 'cannot_judge'> | null | undefined} givenTo
 */
export function brokenBy(consequences, criterion, target, givenTo) {
  const given = givenTo(criterion, target);
  if (!given || given.cannot_judge || given.value === null) return null;
  return consequences.find(({ when, then }) => then.criterion === criterion && !isOneOf(then, given) &&
    [target, 'item'].some((place) => isOneOf(when, givenTo(when.criterion, place)))) ?? null;
}

/** @param {Condition} condition @param {Pick<Given, 'value' | 'cannot_judge'> | null | undefined} given */
function isOneOf({ values }, given) {
  if (!given || given.cannot_judge || given.value === null) return false;
  // A part of a set is a label, a stretch of the answer has one.
  const labels = [given.value].flat().map((part) => String(typeof part === 'object' ? part.label : part));
  return labels.some((label) => values.some((wanted) => String(wanted) === label));
}
