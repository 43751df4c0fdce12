/** What the host page calls: `mount` puts the annotator's page over it, and hands back how to take it down. */

import { App } from './app.js';

/** @typedef {import('./app.js').Options} Options */

/** @type {Map<string, App>} */
const apps = new Map();

/**
 * Mounts the page over the host page. Called again for the same person and study, it goes on with what is there.
 *
 * @param {{data: Options, parentElement: Element | ShadowRoot}} component what the host page hands over
 * @returns {Promise<() => void>} takes it down again and removes every listener
 */
export async function mount({ data, parentElement }) {
  const place = `${data.person}/${data.study}/${data.assignment ?? ''}`;
  let app = apps.get(place);
  const fresh = !app;
  if (!app) {
    app = new App(data);
    apps.set(place, app);
  }
  const mounted = app;
  const token = {};
  mounted.token = token;
  mounted.attach(parentElement);
  if (fresh) {
    await mounted.shell.styled;
    void mounted.load();
  }
  return () => {
    // The host page may end an earlier call after a later one began.
    if (mounted.token === token) mounted.detach(() => apps.delete(place));
  };
}
