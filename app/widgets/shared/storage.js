/** What this browser keeps: localStorage as JSON, with memory in its place where it is refused or full. */

/** @type {Map<string, string>} */
const memory = new Map();

/** @param {string} key @returns {unknown} */
export function read(key) {
  try {
    return JSON.parse(memory.get(key) ?? localStorage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

/** @param {string} key @param {unknown} value */
export function write(key, value) {
  const text = JSON.stringify(value);
  try {
    localStorage.setItem(key, text);
    memory.delete(key);
  } catch {
    memory.set(key, text);
  }
}

/** @param {string} key */
export function remove(key) {
  memory.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // A browser without storage has nothing to remove.
  }
}

/** All keys that begin with `prefix`, sorted. @param {string} prefix */
export function keys(prefix) {
  const found = new Set([...memory.keys()].filter((key) => key.startsWith(prefix)));
  try {
    for (let number = 0; number < localStorage.length; number += 1) {
      const key = localStorage.key(number);
      if (key?.startsWith(prefix)) found.add(key);
    }
  } catch {
    // A browser without storage has only what memory holds.
  }
  return [...found].sort();
}
