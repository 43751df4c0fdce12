/** Characters by the names that HTML gives them, as far as texts about documents have them. */

const LATIN = 'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot '
  + 'cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave '
  + 'Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute '
  + 'acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml '
  + 'divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
const GREEK = 'Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho . Sigma Tau Upsilon Phi Chi Psi Omega';
const OTHERS = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: '\'', ndash: '–', mdash: '—', hellip: '…', lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“',
  rdquo: '”', bdquo: '„', lsaquo: '‹', rsaquo: '›', bull: '•', prime: '′', Prime: '″', euro: '€', trade: '™', permil: '‰', dagger: '†',
  Dagger: '‡', larr: '←', uarr: '↑', rarr: '→', darr: '↓', harr: '↔', rArr: '⇒', hArr: '⇔', forall: '∀', part: '∂', exist: '∃', empty: '∅',
  nabla: '∇', isin: '∈', notin: '∉', prod: '∏', sum: '∑', minus: '−', radic: '√', prop: '∝', infin: '∞', and: '∧', or: '∨', cap: '∩',
  cup: '∪', int: '∫', sim: '∼', cong: '≅', asymp: '≈', ne: '≠', equiv: '≡', le: '≤', ge: '≥', sub: '⊂', sup: '⊃', sube: '⊆', supe: '⊇',
  ensp: '\u2002', emsp: '\u2003', thinsp: '\u2009', zwnj: '\u200c', zwj: '\u200d', lrm: '\u200e', rlm: '\u200f', oelig: 'œ', OElig: 'Œ',
  scaron: 'š', Scaron: 'Š', fnof: 'ƒ', check: '✓', cross: '✗', dollar: '$', num: '#', ast: '*', lowbar: '_', vert: '|', lbrack: '[', rbrack: ']',
};

/** @type {Map<string, string>} */
const NAMES = new Map([
  ...LATIN.split(' ').map((name, at) => /** @type {[string, string]} */ ([name, String.fromCharCode(160 + at)])),
  ...GREEK.split(' ').map((name, at) => /** @type {[string, string]} */ ([name, String.fromCharCode(0x391 + at)])),
  ...GREEK.split(' ').map((name, at) => /** @type {[string, string]} */ ([name.toLowerCase(), String.fromCharCode(0x3b1 + at)])),
  ...Object.entries(OTHERS),
]);
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,9}));/y;

/**
 * The entity that begins at `at`: how many characters it takes, and what it stands for. Null where there is none.
 *
 * @param {string} text
 * @param {number} at
 * @returns {{length: number, text: string} | null}
 */
export function entityAt(text, at) {
  ENTITY.lastIndex = at;
  const found = ENTITY.exec(text);
  if (!found) return null;
  const [whole, decimal, hexadecimal, name] = found;
  if (name !== undefined) {
    const known = NAMES.get(name);
    return known === undefined ? null : { length: whole.length, text: known };
  }
  const code = decimal === undefined ? parseInt(hexadecimal, 16) : Number(decimal);
  if (code < 32 || (code > 126 && code < 160) || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return null;
  return { length: whole.length, text: String.fromCodePoint(code) };
}
