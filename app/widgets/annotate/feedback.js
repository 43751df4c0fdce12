/** What an annotator is told of an item of the qualification: what was right, what was not and why, and how a try ended. */

import { h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

/** What is told, in one line. @param {Feedback} feedback */
export function feedbackTitle({ units, result }) {
  if (result) return TEXT.triedTitle[result.ended](result.right, result.labels);
  const right = units.filter((unit) => unit.is_right).length;
  return TEXT.feedbackTitle(right, units.length);
}

/** @param {Feedback} feedback @returns {HTMLElement[]} */
export function feedbackParts({ units, result }) {
  const lines = [...units].sort((one, other) => Number(one.is_right) - Number(other.is_right)).map((unit) => {
    const title = unit.target ? `${unit.title} (${unit.target})` : unit.title;
    const words = unit.is_right ? TEXT.gaveRight(unit.right) : TEXT.gaveWrong(unit.given ?? TEXT.gaveNone, unit.right);
    return h('li', { class: unit.is_right ? 'right' : 'wrong', 'data-testid': 'feedback-unit' },
      h('b', { dir: 'auto' }, `${unit.is_right ? '✓' : '✗'} ${title}`), h('span', { dir: 'auto' }, words),
      unit.explanation ? h('p', { dir: 'auto' }, unit.explanation) : null);
  });
  const ended = result ? [h('p', { class: 'tried', 'data-testid': 'tried' }, TEXT.tried[result.ended](Math.round(100 * result.mark)))] : [];
  return [...ended, h('ul', { class: 'feedback', 'data-testid': 'feedback' }, ...lines)];
}
