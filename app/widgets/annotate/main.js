/** What the host page calls for the annotator's page: `mount` puts it up, and hands back how to take it down. */

import '../criteria/all.js';
import { App } from './app.js';
import { mounting } from '../frame/mount.js';

export const mount = mounting(
  (/** @type {import('./app.js').Options} */ { person, study, assignment }) => `${person}/${study}/${assignment ?? ''}`,
  (options) => new App(options),
);
