/** One of several labels without order. */

import { buttons } from './buttons.js';
import { register } from './kinds.js';

register('choice', {
  create({ criterion, name, give }) {
    const row = buttons({ name, labels: criterion.labels ?? [], pick: (label) => give(label.value, true) });
    return { ...row, show: (given) => row.show((label) => given !== null && String(given.value) === String(label.value)) };
  },
});
