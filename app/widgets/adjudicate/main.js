/** What the host page calls for the adjudicator's page: `mount` puts it up, and hands back how to take it down. */

import { mounting } from '../frame/mount.js';
import '../criteria/all.js';
import { App } from './app.js';

export const mount = mounting(
  (/** @type {import('./app.js').Options} */ { person, study }) => `${person}/${study}`,
  (options) => new App(options),
);
