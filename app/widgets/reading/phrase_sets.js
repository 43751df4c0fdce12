/** The references as a phrase recall counts them: sets of required phrases, each found so often or missing. */

import { h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

/**
 * The sets, the best one in front under the number it has among the references.
 *
 * @param {{sets: PhraseSet[], rule: string}} counted
 * @param {string | null} language
 */
export function phraseSets({ sets, rule }, language) {
  const numbered = sets.map((set, at) => ({ set, number: at + 1 }));
  const ordered = [...numbered.filter(({ set }) => set.best), ...numbered.filter(({ set }) => !set.best)];
  return h('div', { class: 'phrase-sets', 'data-testid': 'references' },
    ...ordered.map(({ set, number }) => oneSet(set, number, sets.length, language)),
    h('p', { class: 'soft rule' }, TEXT.phraseRule(rule)));
}

/** @param {PhraseSet} set @param {number} number @param {number} of @param {string | null} language */
function oneSet(set, number, of, language) {
  const found = set.phrases.filter((phrase) => phrase.count > 0).length;
  return h('section', { class: `phrase-set ${set.best ? 'best' : ''}`, 'data-testid': 'phrase-set', 'data-best': set.best ? 'true' : null },
    h('h3', {}, TEXT.phraseSet(number), h('small', { class: 'soft' }, TEXT.phrasesFound(found, set.phrases.length, set.best && of > 1))),
    h('ul', {}, ...set.phrases.map((phrase) => h('li', { class: phrase.count ? 'found' : 'missing' },
      h('span', { class: 'tick', 'aria-hidden': 'true' }, phrase.count ? '✓' : '✗'),
      h('span', { dir: 'auto', lang: language }, phrase.text),
      h('small', {}, phrase.count ? h('span', { 'aria-hidden': 'true' }, TEXT.times(phrase.count)) : TEXT.phraseMissing,
        phrase.count ? h('span', { class: 'unseen' }, TEXT.phraseFound(phrase.count)) : null)))));
}
