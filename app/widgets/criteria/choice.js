/** One of several labels without order. */

import { buttons } from './buttons.js';

/** @type {import('../shared/types.js').InputKind} */
export const choice = {
  typed: false,
  complete: (value) => value !== null,
  problem: () => null,
  create({ criterion, name, give }) {
    const row = buttons({ name, labels: criterion.labels ?? [], pick: (label) => give(label.value, true) });
    return { ...row, show: (given) => row.show((label) => given !== null && String(given.value) === String(label.value)) };
  },
};
