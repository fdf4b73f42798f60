import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REQUESTS_OF_CENTRAL, REQUESTS_OF_NODES, RequestGate } from './request-gate.ts';

/** Whether a node may send it, however it is cut; the same answer for all cuts. */
function passes(text: string, requests = REQUESTS_OF_NODES): boolean {
  const bytes = Buffer.from(text);
  const cuts = [bytes.length, 1, 2, 3, 7].map((size) => {
    const gate = new RequestGate(requests);
    try {
      for (let at = 0; at < bytes.length; at += size) gate.check(bytes.subarray(at, at + size));
      return true;
    } catch {
      return false;
    }
  });
  assert.equal(new Set(cuts).size, 1, text);
  return cuts[0] === true;
}

test('what ovn-controller asks passes', () => {
  for (const method of REQUESTS_OF_NODES) assert.ok(passes(JSON.stringify({ id: 1, method, params: ['OVN_Southbound', { a: [1, {}] }] })));
  assert.ok(passes('{"id":"echo","result":[],"error":null}\n {"method":"echo","id":"echo","params":[]}'));
  assert.ok(
    passes('{"params":["OVN_Southbound",{"op":"comment","comment":"}{\\"method\\":\\"convert\\"\\\\"}],"method":"transact","id":2}'),
  );
  assert.ok(passes('{"params":[{"method":"convert"}],"method":"transact","id":{"method":"steal"}}'), 'names of what is inside');
  assert.ok(passes('{"id":"method","method":"transact","params":["convert"]}'));
});

test('a node cannot convert a database or take a lock, however it says so', () => {
  for (const method of ['convert', 'lock', 'steal', 'unlock', 'Convert', '', 'x'.repeat(1000)])
    for (const text of [
      JSON.stringify({ id: 1, method, params: [] }),
      JSON.stringify({ params: ['a', { b: 'c' }], id: 1, method }),
      `{"method":"echo","id":1,"params":[]}{"id":2,"method" :\n"${method}","params":[]}`,
      `{"method":"transact","method":"${method}","id":1,"params":[]}`,
      `{"method":"${method}","method":"transact","id":1,"params":[]}`,
    ])
      assert.ok(!passes(text), text);
  assert.ok(!passes('{"meth\\u006fd":"convert","id":1,"params":[]}'));
  assert.ok(!passes('{"method":"con\\u0076ert","id":1,"params":[]}'));
  assert.ok(!passes(`{"${'a'.repeat(65)}":1,"method":"echo"}`));
});

test('what is no sequence of objects ends the connection', () => {
  for (const text of ['[{"method":"convert"}]', '"', 'GET / HTTP/1.1', '{"method":"echo"}]', '{"method":"echo"},{}', '\u0000{}'])
    assert.ok(!passes(text), text);
});

test('northd takes its lock; nobody converts a database by a port', () => {
  for (const method of ['lock', 'steal', 'unlock', 'transact']) assert.ok(passes(`{"method":"${method}","id":1}`, REQUESTS_OF_CENTRAL));
  assert.ok(!passes('{"method":"convert","id":1}', REQUESTS_OF_CENTRAL));
});
