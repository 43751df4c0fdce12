/** Every word that a part of the page asks for is there, and every one that is there is asked for. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { WIDGETS } from './browser.js';
import * as adjudicate from '../../app/widgets/adjudicate/text.js';
import * as revise from '../../app/widgets/revise/text.js';
import * as shared from '../../app/widgets/shared/text.js';
import * as viewer from '../../app/widgets/shared/viewer_text.js';

const files = readdirSync(WIDGETS, { recursive: true }).filter((name) => name.endsWith('.js')).map((name) => [name, readFileSync(new URL(name, WIDGETS), 'utf8')]);
/** By the end of the address that they are imported from. */
const HOLDERS = { 'shared/text.js': shared, 'shared/viewer_text.js': viewer, 'adjudicate/text.js': adjudicate, 'revise/text.js': revise };

/** The objects of words that a file imports, by what they are called there. */
function imported(name, source) {
  const here = new URL(name, WIDGETS);
  return [...source.matchAll(/^import \{([^}]+)\} from '([^']+text\.js)';/gm)].flatMap(([, names, from]) => {
    const holder = new URL(from, here).href.slice(WIDGETS.href.length);
    return HOLDERS[holder] ? names.split(',').map((one) => one.trim()).filter((one) => typeof HOLDERS[holder][one] === 'object').map((one) => [one, HOLDERS[holder][one], holder]) : [];
  });
}

test('what is asked for by its name is there', () => {
  let seen = 0;
  for (const [name, source] of files) {
    for (const [called, words] of imported(name, source)) {
      for (const [, asked] of source.matchAll(new RegExp(`(?<![\\w.])${called}\\.(\\w+)`, 'g'))) {
        assert.ok(words[asked] !== undefined, `${name} asks for ${called}.${asked}`);
        seen += 1;
      }
    }
  }
  assert.ok(seen > 500, String(seen));
});

test('what is there is asked for somewhere: by its name, or as one of the words of a screen', () => {
  const all = files.map(([, source]) => source).join('\n');
  for (const holder of Object.values(HOLDERS)) {
    for (const words of Object.values(holder).filter((one) => typeof one === 'object')) {
      for (const name of Object.keys(words)) assert.ok(new RegExp(`(?:WORDS|TEXT|SCREENS|text)\\.${name}\\b|\\{[^{}]*\\b${name}\\b[^{}]*\\} = `).test(all), `nobody asks for ${name}`);
    }
  }
});

test('words are no empty ones, but where nothing is to be said', () => {
  for (const [place, holder] of Object.entries(HOLDERS)) {
    for (const words of Object.values(holder).filter((one) => typeof one === 'object')) {
      for (const [name, word] of Object.entries(words)) {
        for (const one of typeof word === 'string' ? [word] : Array.isArray(word) ? word : []) assert.match(one, /\S/, `${place} ${name}`);
      }
    }
  }
});
