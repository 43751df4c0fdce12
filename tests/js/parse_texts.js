// Reads texts, one JSON string a line, and answers each with what the parser of the annotator's page makes of it.

import { createInterface } from 'node:readline';

const { parse, isPlain } = await import(new URL('../../app/widgets/texts/markdown.js', import.meta.url));
const WHOLE = new Set(['char', 'formula', 'place', 'break']);

for await (const line of createInterface({ input: process.stdin })) {
  const raw = JSON.parse(line);
  const began = performance.now();
  const blocks = parse(raw);
  const took = performance.now() - began;
  const [pieces, formulas, kinds] = [[], [], {}];
  const walk = (node) => {
    if (node.type) kinds[node.type] = (kinds[node.type] ?? 0) + 1;
    if (node.marker) pieces.push(node.marker);
    if (node.about) pieces.push(node.about);
    if (WHOLE.has(node.type)) pieces.push(node.range);
    if (node.type === 'formula') formulas.push(node.tex);
    pieces.push(...node.ranges ?? []);
    for (const inner of [...node.children ?? [], ...node.entries ?? [], ...(Array.isArray(node.rows) ? node.rows.flat() : [])]) walk(inner);
    if (node.address) pieces.push(node.address);
  };
  for (const block of blocks ?? []) walk(block);
  console.log(JSON.stringify({ raw: blocks === null, plain: blocks !== null && isPlain(raw, blocks), pieces: pieces.filter(([from, to]) => from < to), formulas, kinds, took }));
}
