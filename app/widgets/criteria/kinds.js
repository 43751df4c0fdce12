/** The kinds of criterion and their controls; a new kind is one file here and one line below. */

import { choice } from './choice.js';
import { grade } from './grade.js';
import { number } from './number.js';
import { order } from './order.js';
import { several } from './several.js';
import { text } from './text.js';

/** @typedef {import('../shared/types.js').InputKind} InputKind */

/** @type {Record<string, InputKind>} */
const KINDS = { choice, grade, number, order, several, text };

/** The control for a criterion. @param {import('../shared/types.js').Criterion} criterion @returns {InputKind} */
export function kindOf(criterion) {
  const kind = KINDS[criterion.kind];
  if (!kind) throw new Error(`There is no control for criteria of the kind "${criterion.kind}".`);
  return kind;
}
