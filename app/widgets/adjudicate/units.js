/** What the votes on one unit say: values in words, who is the odd one out, whether a decision goes against them. */

import { targetKeys, targetName } from '../shared/targets.js';
import { TEXT } from '../shared/text.js';
import { kindOf, valueWords } from '../criteria/kinds.js';
import { WORDS } from './text.js';

/** A value as votes for it are counted; the fields of its parts may come in any order. @param {Value | null} value */
export const ballot = (value) => (typeof value === 'string' ? value : JSON.stringify(value, (_, part) => (
  part instanceof Object && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort()) : part)));

/** The item's own keys of images → the keys they are shown by; null unless every image is known. @param {Dispute} dispute */
export function imageKeys(dispute) {
  const { targets, images = [] } = dispute.presentation;
  const keys = new Map(Object.entries(targets).filter(([stored]) => stored.startsWith('image:')).map(
    ([stored, shown]) => [stored.slice('image:'.length), shown.slice('image:'.length)],
  ));
  const shown = new Set(keys.values());
  return images.every((image) => shown.has(image.key)) ? keys : null;
}

/** Every unit in the order of the protocol and of the item's parts. @param {Dispute} dispute @param {Protocol} protocol @returns {VotedUnit[]} */
export function unitsOf(dispute, protocol) {
  const { targets } = dispute.presentation;
  const keys = imageKeys(dispute);
  const sorted = new Intl.Collator('en', { numeric: true });
  const hops = (dispute.presentation.hops ?? []).map(({ key }) => key);
  /** Pages are judged hop by hop, and decided so. @param {VotedUnit} unit */
  const hopOf = (unit) => hops.indexOf(targetKeys(unit.target).hop ?? '');
  return protocol.criteria.flatMap((criterion) => {
    const shown = (/** @type {Value | null} */ value) => rekeyed(value, criterion, keys);
    return dispute.units.filter((unit) => unit.criterion === criterion.name).map((unit) => ({
      id: `${unit.criterion} ${unit.target}`,
      criterion: (keys ? null : kindOf(criterion).among?.(criterion, unit.votes)) ?? criterion,
      target: targets[unit.target] ?? unit.target,
      stored: unit.target,
      votes: unit.votes.map((vote) => ({ ...vote, value: shown(vote.value) })),
      sizes: Object.values(unit.counts).sort((a, b) => b - a),
      outcome: unit.outcome,
      value: shown(unit.value),
      majority: shown(unit.majority),
      disputed: unit.needs_decision,
      decided: shown(unit.decided),
      rounds: (unit.rounds ?? []).map((round) => ({ ...round, value: shown(round.value) })),
    })).sort((a, b) => hopOf(a) - hopOf(b) || sorted.compare(a.target, b.target));
  });
}

/** A value with other keys of the images that it names. @param {Value | null} value @param {Criterion} criterion @param {Map<string, string> | null} keys */
export function rekeyed(value, criterion, keys) {
  return value === null || !keys ? value : kindOf(criterion).rekeyed(value, (key) => keys.get(key) ?? key);
}

/** How the annotators stand to each other: "2 against 1, 1 cannot judge". @param {VotedUnit} unit @param {number} raters */
export function division(unit, raters) {
  const cannot = unit.votes.filter((vote) => vote.cannot_judge).length;
  const sizes = kindOf(unit.criterion).compared ? unit.sizes : [];
  const differ = sizes.length > 2 && sizes[0] === 1 ? WORDS.allDiffer : sizes.length > 1 ? WORDS.against(sizes) : '';
  return [
    differ, cannot ? WORDS.nCannot(cannot) : '',
    unit.votes.length < raters ? WORDS.asked(unit.votes.length, raters) : '',
  ].filter(Boolean).join(', ');
}

/** Whether a vote is not with the most of them; with a tie nobody is the odd one out. @param {Vote} vote @param {VotedUnit} unit */
export function isOdd(vote, unit) {
  if (vote.cannot_judge || unit.sizes.length < 2 || unit.sizes[0] === unit.sizes[1]) return false;
  const mine = unit.votes.filter((other) => !other.cannot_judge && ballot(other.value) === ballot(vote.value)).length;
  return mine < unit.sizes[0];
}

/** What the votes settled, in words. @param {VotedUnit} unit */
export function outcomeWords(unit) {
  const label = valueWords(unit.value, unit.criterion);
  if (unit.outcome === 'majority') return WORDS.byMajority(label);
  if (unit.outcome === 'alike') return WORDS.byBoth(label);
  return unit.sizes.length > 1 ? WORDS.tolerated(label) : WORDS.unanimous(label);
}

/**
 * What a unit is about: a short key, a title, a place, and what a claim is held against.
 *
 * @param {string} target
 * @param {Presentation} item
 */
export function about(target, item) {
  const { page, document, hop, claim, evidence } = targetKeys(target);
  if (page) {
    const doc = (item.documents ?? []).length > 1 ? item.documents?.find((doc) => doc.key === document)?.title ?? document : '';
    const step = hop ? (item.hops ?? []).findIndex((step) => step.key === hop) + 1 : 0;
    return { key: TEXT.onPages([page]), title: [step ? TEXT.hop(step) : '', doc].filter(Boolean).join(', '), place: '' };
  }
  if (claim && evidence) {
    const [of, beside] = [targetName(`claim:${claim}`, item), targetName(`evidence:${evidence}`, item)];
    return { key: `${of.key}, ${beside.key}`, title: of.title, place: '', beside: beside.title };
  }
  const { key, title, place } = targetName(target, item);
  return { key, title, place: place ?? '' };
}
