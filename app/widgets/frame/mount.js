/** How a full-screen page is put over the host page, which may call for it again and again. */

/** @typedef {import('./page.js').Page<any>} Page */

/**
 * What the host page calls: `mount` puts the page up and hands back how to take it down.
 *
 * @template Options
 * @param {(options: Options) => string} placeOf the same for calls that mean the same page
 * @param {(options: Options) => Page} make
 */
export function mounting(placeOf, make) {
  /** @type {Map<string, Page>} */
  const pages = new Map();

  /**
   * Called again for the same place, it goes on with what is there.
   *
   * @param {{data: Options, parentElement: Element | ShadowRoot}} component what the host page hands over
   * @returns {Promise<() => void>} takes it down again and removes every listener
   */
  return async function mount({ data, parentElement }) {
    const place = placeOf(data);
    const known = pages.get(place);
    const page = known ?? make(data);
    pages.set(place, page);
    const token = {};
    page.token = token;
    page.attach(parentElement);
    if (!known) {
      await page.shell.styled;
      void page.load();
    }
    return () => {
      // The host page may end an earlier call after a later one began.
      if (page.token === token) page.detach(() => pages.delete(place));
    };
  };
}
