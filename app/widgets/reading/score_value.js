/** Scores that are judged: the value stands in the row of its criterion, with what it means; the others below the rows. */

import { h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

/** The score that a criterion is about, or null. @param {Presentation} item @param {Criterion} criterion @returns {Score | null} */
export function scoreOf(item, criterion) {
  return item.scores?.find((score) => score.criterion === criterion.name) ?? null;
}

/** The title of a criterion with the value that it is about, and in a line below what the value means. @param {Criterion} criterion @param {Score} score */
export function scoredTitle(criterion, score) {
  return h('div', { class: 'c-title scored' },
    h('div', { class: 'scored-line' }, h('b', { class: 'scored-name', dir: 'auto' }, criterion.title), ...scoreParts(criterion, score),
      criterion.required === false ? h('i', { class: 'optional' }, TEXT.optional) : null,
      criterion.help ? h('small', { class: 'scored-help', dir: 'auto' }, criterion.help) : null),
    score.meaning ? h('small', { dir: 'auto', 'data-testid': 'score-meaning' }, score.meaning) : null);
}

/** The value, after the name of the score where the criterion does not say it. @param {Criterion} criterion @param {Score} score */
export function scoreParts(criterion, score) {
  const said = !score.title || criterion.title.toLowerCase().includes(score.title.toLowerCase());
  return [said ? null : h('span', { class: 'soft' }, score.title), valueNode(score)];
}

/** @param {Score} score */
function valueNode(score) {
  const shape = score.value === null ? 'score-value none' : 'score-value';
  return h('b', { class: shape, dir: 'auto', 'data-testid': 'score-value', 'data-flag': score.kind === 'flag' ? score.words : null }, score.words);
}

/** The scores that no criterion is about, in brief; null when there is none. @param {Presentation} item */
export function otherScores(item) {
  const others = item.scores?.filter((score) => !score.criterion) ?? [];
  if (!others.length) return null;
  return h('section', { class: 'other-scores', 'data-testid': 'scores', 'aria-label': TEXT.otherScores }, h('h2', {}, TEXT.otherScores),
    h('ul', {}, ...others.map((score) => h('li', { title: score.meaning || null },
      h('span', {}, score.title), ' ', h('b', {}, score.words), ' ', h('small', { class: 'soft' }, score.scorer)))));
}
