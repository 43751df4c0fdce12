/** Any number of labels at once; "None" says that no label applies, which is not the same as no answer. */

import { TEXT } from '../shared/text.js';
import { buttons } from './buttons.js';
import { register } from './kinds.js';

const NONE = '\u0000none';
const NONE_DEFINITION = 'None of the labels applies';

register('several', {
  complete: (value) => Array.isArray(value),
  create({ criterion, name, give }) {
    const labels = criterion.labels ?? [];
    const free = labels.every((label) => label.key !== '0');
    const none = { value: NONE, title: TEXT.none, key: free ? '0' : '', definition: NONE_DEFINITION };
    /** @type {string[] | null} */
    let chosen = null;
    const row = buttons({
      name, labels: [...labels, none], multiple: true, layout: 'wrap',
      pick(label) {
        if (label.value === NONE) {
          give([], true);
          return;
        }
        const on = new Set(chosen ?? []);
        if (!on.delete(String(label.value))) on.add(String(label.value));
        const values = labels.map(({ value }) => String(value)).filter((value) => on.has(value));
        give(values.length ? values : null, false);
      },
    });
    return {
      ...row,
      show(given) {
        chosen = Array.isArray(given?.value) ? /** @type {string[]} */ (given.value) : null;
        row.show((label) => (label.value === NONE ? chosen?.length === 0 : !!chosen?.includes(String(label.value))));
      },
    };
  },
});
