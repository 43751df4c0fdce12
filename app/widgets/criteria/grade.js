/** One of several ordered labels, such as agreement from 1 to 5. */

import { buttons } from './buttons.js';
import { register } from './kinds.js';

const SHORT = 12; // characters of a title that fits beside its key

register('grade', {
  create({ criterion, name, give }) {
    const labels = criterion.labels ?? [];
    const long = labels.length > 3 && labels.some((label) => label.title.length > SHORT);
    const row = buttons({ name, labels, layout: long ? 'scale' : '', pick: (label) => give(label.value, true) });
    return { ...row, show: (given) => row.show((label) => given !== null && String(given.value) === String(label.value)) };
  },
});
