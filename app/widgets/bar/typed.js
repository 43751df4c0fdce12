/** What is typed into a box that takes new values stays there when Tab leaves it; the host page would throw it away. */

/** The box's own line for what is typed and not among its values. */
const NEW = '[role="option"][data-key="__creatable__"]';

/** The line of a box's list that says what is typed: one of its values, or a new one. @param {HTMLInputElement} input */
function line(input) {
  const list = document.getElementById(input.getAttribute('aria-controls') ?? '');
  const added = /** @type {HTMLElement | null} */ (list?.querySelector(NEW) ?? null);
  if (added || !list) return added;
  const same = [...list.querySelectorAll('[role="option"]')].find((option) => option.textContent === input.value);
  return /** @type {HTMLElement | null} */ (same ?? null);
}

/**
 * Takes what is typed when Tab leaves a box: of all boxes of the page, those that come later as well.
 *
 * Only what is wholly typed is taken. A box that offers its own values alone keeps the one it has, as it did.
 *
 * @param {Document} page
 */
export function keepTyped(page) {
  if (page.documentElement.dataset.assayTyped) return;
  page.documentElement.dataset.assayTyped = 'kept';
  page.addEventListener(
    'keydown',
    (event) => {
      const input = event.target;
      if (event.key !== 'Tab' || !(input instanceof HTMLInputElement) || input.getAttribute('role') !== 'combobox') return;
      if (input.value.trim()) line(input)?.click();
    },
    true, // before the box hears of it and empties itself
  );
}
