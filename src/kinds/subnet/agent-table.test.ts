import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kilnAnnotation } from '../../api/well-known.ts';
import { acceptedSpecText } from '../../api/validation/subnet-accepted-spec.ts';
import { agentTable } from './agent-table.ts';

const SPEC = { protocol: 'IPv4', cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1', natOutgoing: true, mtu: 1400 } as const;

test('a node has of a Subnet what is in effect: the accepted spec while a later one is refused, and the MTU of running pods', () => {
  const accepted = acceptedSpecText('u', SPEC) ?? assert.fail();
  const seen = (annotations: Readonly<Record<string, string>>): readonly unknown[] => {
    const metadata = { name: 'red', uid: 'u', annotations };
    const { cidrs, natOutgoing, mtu } = agentTable.view({ metadata, spec: { cidrBlock: '10.9.0.0/16', mtu: 1300 } }, 'node-1');
    return [cidrs, natOutgoing, mtu];
  };
  assert.deepEqual(seen({}), [['10.9.0.0/16'], false, 1300]);
  assert.deepEqual(seen({ [kilnAnnotation.acceptedSpec]: accepted }), [['10.0.0.0/24'], true, 1400]);
  assert.deepEqual(seen({ [kilnAnnotation.acceptedSpec]: accepted, [kilnAnnotation.mtu]: '1350' }), [['10.0.0.0/24'], true, 1350]);
  const ofAnother = acceptedSpecText('another', SPEC) ?? assert.fail();
  assert.deepEqual(seen({ [kilnAnnotation.acceptedSpec]: ofAnother }), [['10.9.0.0/16'], false, 1300], 'a copy of another Subnet');
});

test('an egress gateway counts unless packets are translated, or its table is one that the host uses', () => {
  const egress = (spec: object): unknown =>
    agentTable.view({ metadata: { name: 'red' }, spec: { cidrBlock: '10.0.0.0/24', ...spec } }, 'node-1').egress;
  const gateway = { externalEgressGateway: '172.18.0.9, nonsense', policyRoutingTableID: 1001, policyRoutingPriority: 0 };
  assert.deepEqual(egress(gateway), { gateways: ['172.18.0.9'], table: 1001, priority: 1 });
  assert.deepEqual(
    [{ natOutgoing: true }, { policyRoutingTableID: 254 }].map((more) => egress({ ...gateway, ...more })),
    [undefined, undefined],
  );
});
