/** What a label is about: the keys in a target, and what it is called. */

import { blocksOf, plain } from './blocks.js';
import { shorten } from './dom.js';
import { TEXT } from './text.js';

const LONG = 200; // characters of a title

/** @typedef {{document?: string, page?: number, hop?: string, claim?: string, evidence?: string, image?: string, block?: number}} TargetKeys */

/** The keys in a target: `claim:c1|evidence:E2` → {claim: 'c1', evidence: 'E2'}. @param {string} target @returns {TargetKeys} */
export function targetKeys(target) {
  const page = /^page:(.*):(\d+)(?:\|hop:(.*))?$/s.exec(target);
  if (page) return { document: page[1], page: Number(page[2]), hop: page[3] };
  const block = /^block:(\d+)$/.exec(target);
  if (block) return { block: Number(block[1]) };
  return Object.fromEntries(target.split('|').filter((part) => part.includes(':')).map((part) => {
    const colon = part.indexOf(':');
    return [part.slice(0, colon), part.slice(colon + 1)];
  }));
}

/** The thing that a target is about: of a claim against something, the claim. @param {string} target */
export const thingOf = (target) => (target.startsWith('claim:') ? target.split('|')[0] : target);

/** What a target is called in a row: a short key, a title, and where it is. @param {string} target @param {Presentation} item @returns {{key: string, title: string, place?: string}} */
export function targetName(target, item) {
  const keys = targetKeys(target);
  if (keys.page) return { key: String(keys.page), title: TEXT.page(keys.page) };
  if (keys.evidence) {
    const unit = item.evidence?.find((unit) => unit.key === keys.evidence);
    return { key: keys.evidence, title: unit ? unitTitle(unit) : '', place: unit?.pages.length ? TEXT.onPages(unit.pages) : '' };
  }
  if (keys.claim) {
    const number = item.claims?.findIndex((claim) => claim.key === keys.claim) ?? -1;
    const place = TEXT.against[target.split('|')[1]];
    return { key: `C${number + 1}`, title: item.claims?.[number]?.text ?? keys.claim, place };
  }
  if (keys.block) return { key: TEXT.block(keys.block), title: shorten(plain(blocksOf(item.answer ?? '')[keys.block - 1] ?? ''), LONG) };
  if (keys.image) {
    const number = item.images?.findIndex((image) => image.key === keys.image) ?? -1;
    return { key: TEXT.image(number + 1), title: item.images?.[number]?.caption ?? '' };
  }
  return { key: '', title: '' };
}

/** A decision in words: its criterion and, in brackets, what it is about. @param {Cell} cell @param {Presentation} item */
export function cellTitle(cell, item) {
  const keys = targetKeys(cell.target);
  if (keys.page) {
    const hop = keys.hop ? item.hops?.findIndex((step) => step.key === keys.hop) ?? -1 : -1;
    return `${cell.criterion.title} (${hop >= 0 ? `${TEXT.hop(hop + 1)}, ` : ''}${TEXT.page(keys.page)})`;
  }
  const claim = keys.claim && keys.evidence ? `${targetName(`claim:${keys.claim}`, item).key}, ` : '';
  const { key } = targetName(cell.target, item);
  return key ? `${cell.criterion.title} (${claim}${key})` : cell.criterion.title;
}

/** What a unit is called in a row: its title, or the beginning of its text. @param {Unit} unit */
export function unitTitle(unit) {
  return shorten(unit.title || unit.text || TEXT.kinds[unit.kind] || unit.kind, LONG);
}
