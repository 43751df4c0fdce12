/** Addresses of people, each with a button that copies it, and one that copies them all. */

/** @typedef {{name: string, address: string}} Row */

const COPIED = 'Copied';
const BY_HAND = 'Selected: press Ctrl+C';

/**
 * Puts a text on the clipboard: by the browser's clipboard where it may be used, else by selecting what is shown.
 *
 * @param {string} text
 * @param {HTMLInputElement | HTMLTextAreaElement} field shows the text; it stays selected where nothing else works
 * @returns {Promise<boolean>} whether it is on the clipboard
 */
export async function copy(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No clipboard without https, or it was refused: the old way needs a selection, and leaves one to copy by hand.
    field.focus();
    field.select();
    return document.execCommand('copy');
  }
}

/**
 * @param {string} label
 * @param {string} about what a screen reader says of it
 * @param {() => Promise<boolean>} act
 * @returns {HTMLButtonElement}
 */
function button(label, about, act) {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = label;
  made.setAttribute('aria-label', about);
  made.addEventListener('click', async () => {
    made.textContent = (await act()) ? COPIED : BY_HAND;
    setTimeout(() => { made.textContent = label; }, 2500);
  });
  return made;
}

/**
 * @param {Row} row
 * @returns {HTMLElement}
 */
function line({ name, address }) {
  const made = document.createElement('div');
  made.className = 'line';
  const who = document.createElement('b');
  who.textContent = name;
  const field = document.createElement('input');
  field.readOnly = true;
  field.value = address;
  field.setAttribute('aria-label', `Sign-in address of ${name}`);
  field.addEventListener('focus', () => field.select());
  made.append(who, field, button('Copy', `Copy the address of ${name}`, () => copy(address, field)));
  return made;
}

/**
 * @param {Row[]} rows
 * @returns {HTMLElement}
 */
function all(rows) {
  const made = document.createElement('div');
  made.className = 'all';
  const text = rows.map(({ name, address }) => `${name}\t${address}`).join('\n');
  const field = document.createElement('textarea');
  field.readOnly = true;
  field.value = text;
  field.tabIndex = -1;
  field.setAttribute('aria-label', 'All names and addresses');
  made.append(button('Copy all', 'Copy all names and addresses', () => copy(text, field)), field);
  return made;
}

/**
 * What the host page calls, perhaps again and again with the same rows.
 *
 * @param {{data: {rows: Row[]}, parentElement: Element | ShadowRoot}} component what the host page hands over
 * @returns {() => void} takes it down again
 */
export function mount({ data, parentElement }) {
  const root = document.createElement('div');
  root.className = 'addresses';
  root.append(...data.rows.map(line), ...(data.rows.length > 1 ? [all(data.rows)] : []));
  for (const old of parentElement.querySelectorAll('.addresses')) old.remove();
  parentElement.append(root);
  return () => root.remove();
}
