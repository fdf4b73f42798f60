import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vpcDefaults } from './vpc-defaults.ts';

test('routes get a policy, ineffective next hops are removed, the rest stays', () => {
  const spec = {
    staticRoutes: [
      { cidr: '0.0.0.0/0', nextHopIP: '10.0.0.1' },
      { cidr: '10.1.0.0/16', nextHopIP: '10.0.0.2', policy: 'policySrc' },
    ],
    policyRoutes: [
      { action: 'drop', match: 'ip4', nextHopIP: '10.0.0.1', priority: 1 },
      { action: 'reroute', match: 'ip4', nextHopIP: '10.0.0.1', priority: 2 },
      { action: 'allow', match: 'ip4', priority: 3 },
    ],
  };
  const wanted = vpcDefaults(spec);
  assert.deepEqual(
    wanted.staticRoutes?.map(({ policy }) => policy),
    ['policyDst', 'policySrc'],
  );
  assert.deepEqual(
    wanted.policyRoutes?.map(({ nextHopIP }) => nextHopIP),
    ['', '10.0.0.1', undefined],
  );
  assert.deepEqual(vpcDefaults({ ...spec, ...wanted }), {});
});

test('a misspelt action keeps its next hop, which is needed once it is spelt right', () => {
  const policyRoutes = [{ action: 'Reroute', match: 'ip4', nextHopIP: '10.0.0.1', priority: 1 }];
  assert.deepEqual(vpcDefaults({ policyRoutes }), {});
  const mixed = [...policyRoutes, { action: 'allow', match: 'ip4', nextHopIP: '10.0.0.1', priority: 2 }];
  assert.deepEqual(
    vpcDefaults({ policyRoutes: mixed }).policyRoutes?.map(({ nextHopIP }) => nextHopIP),
    ['10.0.0.1', ''],
  );
});

test('nothing to change', () => {
  assert.deepEqual(vpcDefaults({}), {});
});
