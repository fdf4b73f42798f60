import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routesIn } from '../../kinds/pod/agent-rules/pod-routes.ts';
import { routesOfText, routesText } from './attachment-routes.ts';

const written = [
  { dst: '10.9.0.0/16', gw: '10.16.0.254' },
  { dst: '', gw: 'fd00::1' },
];

test('what was written is read', () => {
  assert.deepEqual(routesOfText(routesText(written) ?? ''), written);
  assert.equal(routesText([]), undefined);
  assert.deepEqual(routesOfText(''), []);
});

test('a text that is no list, and an item that is no route', () => {
  for (const text of ['{', '{}', '7', 'null']) assert.equal(routesOfText(text), undefined);
  // Without a destination it is the default route.
  assert.deepEqual(routesOfText('[{"gw":"10.16.0.254"},{"dst":7,"gw":"10.16.0.254"},{"dst":"10.9.0.0/16"},null]'), [
    { dst: '', gw: '10.16.0.254' },
    ...[undefined, undefined, undefined],
  ]);
});

test('the annotation of a pod is taken as a whole, or not at all', () => {
  assert.deepEqual(routesIn(' [{"gw":"10.16.0.254"}] '), [{ destination: '0.0.0.0/0', gateway: '10.16.0.254' }]);
  assert.deepEqual(routesIn(''), []);
  for (const text of ['[', '[null]', '[{"dst":"10.9.0.0/16","gw":"10.16.0.254"},{"dst":"10.9.0.0/16","gw":"fd00::1"}]'])
    assert.equal(routesIn(text), undefined, text);
});
