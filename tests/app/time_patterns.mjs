// Finds the regular expressions in scripts and times them on hostile texts: one JSON request a line, one answer a line.
//
// {"find": SOURCE} → [{line, source, flags}, …]
// {"time": {source, flags}, "starts": […], "units": […], "ends": […]} → {slow: "…"} or {slow: null}

import { createInterface } from 'node:readline';

const SHORT = 2_000;
const LONG = 16_000;
const ENOUGH_TO_MEASURE = 0.7; // milliseconds; a quadratic pattern needs several times that for SHORT characters
const LONGEST = 15; // milliseconds that any text of LONG characters may take, however they grow

/** Behind these a slash divides nothing: single signs, and words. */
const BEFORE_A_VALUE = new Set([...'(,=:[!&|?{};+-*%<>~^', '', 'return', 'typeof', 'case', 'in', 'of', 'do', 'else', 'await', 'yield']);

/** The literals of a script, and what is made by RegExp, whose places for values hold a word. @param {string} text */
function found(text) {
  const out = [];
  let [at, line, before] = [0, 1, ''];
  const braces = []; // for each open brace whether it ends a place for a value in a template
  const pass = (/** @type {number} */ to) => {
    for (; at < to; at += 1) if (text[at] === '\n') line += 1;
  };
  const template = () => {
    const begins = at;
    while (at < text.length) {
      if (text[at] === '\\') pass(at + 2);
      else if (text[at] === '`') return pass(at + 1);
      else if (text.startsWith('${', at)) {
        braces.push(true);
        return pass(at + 2);
      } else pass(at + 1);
    }
    throw new Error(`a template that begins at ${begins} does not end`);
  };
  while (at < text.length) {
    const sign = text[at];
    if (/\s/.test(sign)) pass(at + 1);
    else if (text.startsWith('//', at)) pass(text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at));
    else if (text.startsWith('/*', at)) pass(text.indexOf('*/', at) + 2);
    else if (sign === "'" || sign === '"') {
      let end = at + 1;
      while (text[end] !== sign) end += text[end] === '\\' ? 2 : 1;
      pass(end + 1);
      before = 'x';
    } else if (sign === '`') {
      const made = before === 'RegExp(' && /^`((?:\\.|[^`\\])*)`(?:, '([a-z]*)')?/.exec(text.slice(at));
      if (made) {
        const source = made[1].replace(/\$\{[^}]*\}/g, 'word').replace(/\\\\/g, '\\');
        out.push({ line, source, flags: made[2] ?? '' });
      }
      pass(at + 1);
      template();
      before = 'x';
    } else if (sign === '}' && braces.pop()) {
      pass(at + 1);
      template();
      before = 'x';
    } else if (sign === '/' && BEFORE_A_VALUE.has(before)) {
      let [end, inClass] = [at + 1, false];
      for (; text[end] !== '/' || inClass; end += 1) {
        if (text[end] === '\n') throw new Error(`line ${line}: no regular expression`);
        if (text[end] === '\\') end += 1;
        else if (text[end] === '[') inClass = true;
        else if (text[end] === ']') inClass = false;
      }
      const flags = /^[a-z]*/.exec(text.slice(end + 1))?.[0] ?? '';
      out.push({ line, source: text.slice(at + 1, end), flags });
      pass(end + 1 + flags.length);
      before = 'x';
    } else {
      if (sign === '{') braces.push(false);
      const word = /^RegExp\(|^[\w$]+/.exec(text.slice(at, at + 200))?.[0] ?? sign;
      if (word === 'RegExp(' && text[at + word.length] !== '`') throw new Error(`line ${line}: a RegExp of something else`);
      before = word;
      pass(at + word.length);
    }
  }
  return out;
}

/** @param {RegExp} pattern @param {string} text */
function run(pattern, text) {
  if (pattern.sticky) {
    // as the parsers use it: at one place after the other
    for (let at = 0; at < text.length; at += 1) {
      pattern.lastIndex = at;
      pattern.test(text);
    }
  } else if (pattern.global) text.replace(pattern, '');
  else pattern.test(text);
}

/** Milliseconds of processor time, the least of some. */
function took(pattern, text, times = 1) {
  let least = Infinity;
  for (let time = 0; time < times; time += 1) {
    const began = process.cpuUsage();
    run(pattern, text);
    const { user, system } = process.cpuUsage(began);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

const text = (start, unit, end, length) => start + unit.repeat(Math.ceil(length / unit.length)) + end;

function slow({ source, flags }, starts, units, ends) {
  const pattern = new RegExp(source, flags);
  for (const start of starts) {
    for (const unit of units) {
      for (const end of ends) {
        if (took(pattern, text(start, unit, end, SHORT)) < ENOUGH_TO_MEASURE) continue;
        const [half, whole] = [LONG / 2, LONG].map((length) => took(pattern, text(start, unit, end, length), 3));
        if (whole >= LONGEST && whole >= 3 * half) {
          return `${JSON.stringify([start, unit, end])}: ${half} ms for ${LONG / 2} characters, ${whole} ms for twice as many`;
        }
      }
    }
  }
  return null;
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const answer = asked.time ? { slow: slow(asked.time, asked.starts, asked.units, asked.ends) } : found(asked.find);
  console.log(JSON.stringify(answer));
}
