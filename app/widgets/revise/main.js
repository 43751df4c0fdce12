/** What the host page calls for the reviser's page: `mount` puts it up, and hands back how to take it down. */

import { mounting } from '../frame/mount.js';
import '../criteria/all.js';
import { App } from './app.js';

export const mount = mounting(
  (/** @type {import('./app.js').Options} */ { person, project, item }) => `${person}/${project}/${item ?? 'queue'}`,
  (options) => new App(options),
);
