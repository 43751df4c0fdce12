/**
 * Formulas: drawn as MathML by KaTeX, which is fetched from our own server when a text has the first one. Until it is drawn,
 * and where it cannot be, a formula stands there as it was written.
 */

/** @typedef {{element: Element, tex: string, display: boolean}} Formula */
/** @typedef {{render: (tex: string, element: Element, options: Record<string, unknown>) => void}} Renderer */

const RENDERER = new URL('../formulas/katex.js', import.meta.url);
const SLICE = 6; // milliseconds of drawing until the page is let go on
const KEPT = 500;
// What a formula may cost: macros that are replaced, and ems that something is wide. `trust` would let it link and fetch.
const LIMITS = { maxExpand: 200, maxSize: 20, trust: false, strict: 'ignore', throwOnError: true, output: 'mathml' };

/** @type {Promise<Renderer | null> | null} */
let renderer = null;
/** @type {Formula[]} */
let waiting = [];
/** What was drawn, by its text; null: it cannot be. @type {Map<string, Element | null>} */
const known = new Map();

/** Draws formulas once the page has nothing more urgent to do. @param {Formula[]} formulas */
export function drawFormulas(formulas) {
  if (!formulas.length) return;
  if (!waiting.length) setTimeout(() => void work());
  waiting.push(...formulas);
}

async function work() {
  const katex = await (renderer ??= fetchRenderer());
  const batch = waiting;
  waiting = [];
  if (!katex) return;
  let began = performance.now();
  for (const formula of batch) {
    if (!formula.element.isConnected) continue; // another item is on the screen
    if (performance.now() - began > SLICE) {
      await new Promise((later) => setTimeout(later));
      began = performance.now();
    }
    drawOne(katex, formula);
  }
}

/** @returns {Promise<Renderer | null>} */
async function fetchRenderer() {
  try {
    const module = /** @type {Record<string, unknown>} */ (await import(RENDERER.href));
    return /** @type {Renderer | undefined} */ (Object.values(module).find(
      (exported) => typeof (/** @type {Partial<Renderer> | null} */ (exported))?.render === 'function',
    )) ?? null;
  } catch {
    renderer = null; // tried again with the next text that has a formula
    return null;
  }
}

/** @param {Renderer} katex @param {Formula} formula */
function drawOne(katex, { element, tex, display }) {
  const key = `${display ? 'display' : 'text'} ${tex}`;
  if (!known.has(key)) known.set(key, rendered(katex, tex, display));
  const math = known.get(key);
  if (math) {
    element.replaceChildren(math.cloneNode(true));
    element.classList.add('drawn');
  }
  for (const old of known.keys()) {
    if (known.size <= KEPT) break;
    known.delete(old);
  }
}

/** @param {Renderer} katex @param {string} tex @param {boolean} display @returns {Element | null} */
function rendered(katex, tex, display) {
  const place = document.createElement('span');
  try {
    katex.render(tex, place, { ...LIMITS, displayMode: display, macros: {} });
  } catch {
    return null; // it stays as it was written
  }
  const math = place.querySelector('math');
  for (const source of math?.querySelectorAll('annotation') ?? []) source.remove();
  return math;
}
