import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withNext } from './next-command.ts';

test('a message that names a command gets no second one; a command in quoted text does not count', () => {
  assert.equal(withNext('Vpc red is gone; kubectl get vpc', 'kubectl edit vpc red'), 'Vpc red is gone; kubectl get vpc');
  assert.equal(withNext('Vpc red is invalid', 'kubectl edit vpc red'), 'Vpc red is invalid; kubectl edit vpc red');
  const quoted = 'Vpc red: spec.policyRoutes[0].match "kubectl delete vpc red" cannot be read';
  assert.equal(withNext(quoted, 'kubectl edit vpc red'), `${quoted}; kubectl edit vpc red`);
});
