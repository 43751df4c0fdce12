/** What is a formula between dollars or brackets, and what is money, a footnote or an escaped bracket. */

const LONGEST = 2000; // characters of a formula
const DEEPEST = 30; // braces within braces
const MOST_CELLS = 300; // & and \\ of matrices and aligned lines
// What fetches, links, or changes the page, and what KaTeX only draws where it trusts the text.
const REFUSED = /\\(?:href|url|includegraphics|html[A-Za-z]+|special|input|include|write|csname|catcode)(?![A-Za-z])/;
const TEX = /\\[A-Za-z]|[\^_{}]/;
const QUOTED = /\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|operatorname|mbox|label|tag)\*?\s*\{[^{}]*\}|\\[A-Za-z]+/g;

/**
 * Whether what stands between the signs is a formula that may be drawn.
 *
 * @param {string} tex without its signs
 * @param {'$' | '$$' | '(' | '[' | 'begin'} sign
 */
export function isFormula(tex, sign) {
  if (tex.length > LONGEST || !tex.trim() || REFUSED.test(tex) || /\n[ \t\r]*\n/.test(tex)) return false;
  if (!bounded(tex)) return false;
  if (sign === 'begin') return true;
  const signs = TEX.test(tex);
  const words = (tex.replace(QUOTED, ' ').match(/\p{L}{2,}/gu) ?? []);
  // Prose between two amounts of money, or in brackets that somebody escaped.
  if (words.filter((word) => word.length > 3).length > (signs ? 4 : 0)) return false;
  if (signs || sign === '$$') return true;
  if (sign === '[') return /[=<>+]/.test(tex);
  return !(words.length && /\s/.test(tex.trim())) && !/["“”]/.test(tex);
}

/** Whether braces are closed in order and not too deep, and a matrix is of a size that people write. @param {string} tex */
function bounded(tex) {
  let [depth, cells] = [0, 0];
  for (let at = 0; at < tex.length; at += 1) {
    const sign = tex[at];
    if (sign === '\\') {
      at += 1;
      if (tex[at] === '\\') cells += 1;
    } else if (sign === '{') depth += 1;
    else if (sign === '}') depth -= 1;
    else if (sign === '&') cells += 1;
    if (depth < 0 || depth > DEEPEST || cells > MOST_CELLS) return false;
  }
  return depth === 0;
}
