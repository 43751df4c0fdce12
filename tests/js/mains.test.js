/** What the host page calls for each desk: the same place goes on with what is there, another one is another page. */

import assert from 'node:assert/strict';
import { register } from 'node:module';
import { test } from 'node:test';
import { pass } from './browser.js';
import { DESKS, Server } from './whole_page.js';

// The list of kinds is written by the server.
register(`data:text/javascript,${encodeURIComponent("export const resolve = (name, context, next) => (name.endsWith('criteria/all.js') ? { url: 'data:text/javascript,', shortCircuit: true } : next(name, context));")}`);

const CALLS = {
  annotate: [{ person: '7', study: 1 }, { person: '8' }, { study: 2 }, { assignment: 3 }], adjudicate: [{ person: '7', study: 1 }, { person: '8' }, { study: 2 }],
  revise: [{ person: '7', project: 1 }, { person: '8' }, { project: 2 }, { item: 3 }],
};

for (const [desk, [first, ...others]] of Object.entries(CALLS)) {
  test(`${desk}: a place is a person, what they work on, and the one item that was asked for`, async () => {
    const { mount } = await import(`../../app/widgets/${desk}/main.js`);
    void new Server({});
    const parent = document.createElement('div');
    document.body.replaceChildren(parent);
    const hosts = () => document.body.elements.filter((element) => element.shadowRoot);
    const downs = [];
    const call = async (more) => {
      const going = mount({ data: { project: 'p', home: '/', sign_in: '/', keys: DESKS.keys[desk], item: null, ...first, ...more }, parentElement: parent });
      for (const host of hosts()) host.shadowRoot.querySelector('link').dispatchEvent(new Event('load'));
      downs.push(await going);
      return hosts().length;
    };
    assert.deepEqual([await call({}), await call({})], [1, 1]);
    let number = 1;
    for (const other of others) {
      number += 1;
      assert.equal(await call(other), number, JSON.stringify(other));
    }
    await pass(10);
    for (const down of downs) down();
    assert.equal(hosts().length, 0);
    await pass(6000);
  });
}
