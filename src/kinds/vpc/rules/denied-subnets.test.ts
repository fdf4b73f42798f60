import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../../explain/status.ts';
import { RuleBench } from '../../../testing/rule-bench.ts';

test('built-in Subnets that another webhook denies are told on the default Vpc and in kiln status, until they are created', () => {
  for (const denied of [['join'], ['ovn-default'], ['ovn-default', 'join']]) {
    const bench = new RuleBench();
    bench.rejects = ({ verb, resource, name }) =>
      verb === 'create' && resource === 'subnets' && denied.includes(name)
        ? 'admission webhook "names.example.com" denied the request'
        : undefined;
    bench.put('nodes', { metadata: { name: 'n1' }, spec: {}, status: { addresses: [{ type: 'InternalIP', address: '192.168.1.11' }] } });
    bench.converge();
    const { status, reason, message = '' } = bench.condition('vpcs', 'ovn-cluster', 'DefaultSubnet') ?? {};
    assert.deepEqual([status, reason], ['False', 'WriteRefused'], denied.join());
    for (const name of denied)
      assert.ok(message.includes(`Subnet ${name}, which the cluster needs, cannot be created: the API server says: `), message);
    assert.match(message, /names\.example\.com.*; kubectl get validatingwebhookconfigurations/);
    assert.deepEqual(
      statusOf(bench.world, true)
        .findings.filter(({ kind }) => kind === 'Vpc')
        .map(({ what, key }) => [what, key]),
      [['not ready', 'ovn-cluster']],
    );
    bench.rejects = () => undefined;
    bench.passTo(Date.parse('2027-01-01T00:00:00Z'));
    bench.converge();
    assert.equal(bench.condition('vpcs', 'ovn-cluster', 'DefaultSubnet'), undefined);
    for (const name of denied) assert.ok(bench.object('subnets', name) !== undefined, name);
  }
});
