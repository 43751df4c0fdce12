/** What only one of two answers says, sentence by sentence. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from '../../app/widgets/reading/pairs/differences.js';

/** What is marked of each side: whole sentences, and figures within others. */
const marked = (left, right) => differences(left, right).map((found, side) => found.flatMap(({ only, figures }, at) => {
  const sentence = [left, right][side][at];
  return only ? [sentence] : figures.map(([start, end]) => sentence.slice(start, end));
}));

test('two texts that say the same in other words of the same stem have no mark', () => {
  assert.deepEqual(marked(['The office decides within eight weeks.'], ['Within eight weeks the office is deciding.']), [[], []]);
});

test('a sentence whose words the other text does not have is marked, on its side only', () => {
  assert.deepEqual(marked(['Get the consent of the owner.', 'No decision means consent by silence after spring.'], ['Get the consent of the owner.']),
    [['No decision means consent by silence after spring.'], []]);
});

test('a sentence that the other text says in two has its counterpart in both together', () => {
  const long = 'The pier was renewed in spring and the cable along the wall was laid anew.';
  assert.deepEqual(marked([long], ['The pier was renewed in spring.', 'The cable along the wall was laid anew.']), [[], []]);
});

test('another figure in the same sentence is marked by itself, whatever its commas', () => {
  assert.deepEqual(marked(['The plan has a scale of 1,500 and is six months old.'], ['The plan has a scale of 1500 and is six months old.']), [[], []]);
  assert.deepEqual(marked(['The test may be 6 months old at most.'], ['The test may be 12 months old at most.']), [['6'], ['12']]);
});

test('the number of an entry in a list is no figure and no word', () => {
  assert.deepEqual(marked(['1. Name a driller on the register.', '2.'], ['3. Name a driller on the register.']), [[], []]);
});

test('Arabic is compared by its words', () => {
  assert.deepEqual(marked(['يفتح المسبح في الأول من مايو.', 'ثمن التذكرة أربعة يورو.'], ['في الأول من مايو يفتح المسبح.']), [['ثمن التذكرة أربعة يورو.'], []]);
});

test('texts of very many sentences are left unmarked', () => {
  const many = Array.from({ length: 501 }, (_, at) => `Sentence ${at} is alone.`);
  assert.deepEqual(marked(many, ['Nothing like it.']), [[], []]);
});
