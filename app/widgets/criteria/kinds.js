/** The kinds of criterion by their names; a new kind is one file beside this one, which registers itself. */

import { TEXT } from '../shared/text.js';

/** @type {Map<string, Kind>} */
const KINDS = new Map();

/** What most kinds have in common. */
const USUAL = {
  keys: /** @type {[string, string][]} */ ([]),
  typed: false,
  compared: true,
  complete: (/** @type {Value | null} */ value) => value !== null,
  problem: () => null,
  words: (/** @type {Value} */ value, /** @type {Criterion} */ criterion) => [value].flat().map(
    (chosen) => criterion.labels?.find((label) => String(label.value) === String(chosen))?.title ?? String(chosen),
  ).join(', ') || TEXT.none,
  rekeyed: (/** @type {Value} */ value) => value,
};

/** Registers a kind under its name. @param {string} name @param {Partial<Kind> & Pick<Kind, 'create'>} own what it does otherwise than most */
export function register(name, own) {
  if (KINDS.has(name)) throw new Error(`There are two kinds of criterion with the name "${name}".`);
  KINDS.set(name, { ...USUAL, ...own });
}

/** The kind of a criterion. @param {Criterion} criterion @returns {Kind} */
export function kindOf(criterion) {
  const kind = KINDS.get(criterion.kind);
  if (!kind) throw new Error(`There is no control for criteria of the kind "${criterion.kind}". Known: ${[...KINDS.keys()].join(', ')}.`);
  return kind;
}

/** A value in the words of its criterion; empty where there is none. @param {Value | null} value @param {Criterion} criterion */
export const valueWords = (value, criterion) => (value === null ? '' : kindOf(criterion).words(value, criterion));
