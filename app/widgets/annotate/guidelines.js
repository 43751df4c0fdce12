/** The guidelines beside the item. */

import { button, h } from './dom.js';
import { TEXT } from './text.js';
import { markdown } from './texts/draw.js';

/** @typedef {import('./types.js').Protocol} Protocol */

/** The guidelines: they lie over the viewer, and the keys go on giving labels. */
export class Guidelines {
  /** @param {Protocol} protocol @param {() => void} close */
  constructor(protocol, close) {
    this.element = h('section', {
      class: 'guidelines', 'aria-label': TEXT.guidelines, tabindex: '-1', hidden: true, 'data-testid': 'guidelines',
    },
    h('header', {}, h('h1', { dir: 'auto' }, protocol.title), button(TEXT.close, close, { class: 'btn small', key: 'Escape' })),
    h('div', { class: 'guidelines-text', tabindex: '0' },
      protocol.summary ? h('p', { class: 'soft', dir: 'auto' }, protocol.summary) : null,
      h('div', { class: 'rendered' }, ...markdown(protocol.guidelines)), definitions(protocol)));
  }

  get open() {
    return !this.element.hidden;
  }

  toggle() {
    this.element.hidden = this.open;
  }
}

/** Every label and what it means. @param {Protocol} protocol */
function definitions(protocol) {
  const defined = protocol.criteria.filter((criterion) => criterion.labels?.some((label) => label.definition));
  return h('div', {}, defined.length ? h('h2', {}, TEXT.labelsOf) : null, ...defined.map((criterion) => h('section', {},
    h('h3', { dir: 'auto' }, criterion.title),
    h('dl', { class: 'definitions' }, ...(criterion.labels ?? []).flatMap((label) => [
      h('dt', { dir: 'auto' }, label.title), h('dd', { dir: 'auto' }, label.definition),
    ])))));
}
