/** One family, requested in a dual-stack Subnet (`ip_family`), with an IP object from before the pod. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const FAMILY = 'ovn.kubernetes.io/ip_family';
const BOTH = { v4IpAddress: '10.95.0.5', v6IpAddress: 'fd00:95::5' };

function scene(): PodScene {
  const made = new PodScene();
  made.subnet('net', { cidrBlock: '10.95.0.0/24,fd00:95::/112', namespaces: ['shop'] });
  made.bench.converge();
  return made;
}

/** An IP object restored from a backup. */
function madeAgain(made: PodScene, spec: Readonly<Record<string, string>>, reserved = false): void {
  const labels = { 'ovn.kubernetes.io/subnet': 'net', 'ovn.kubernetes.io/ip_reserved': String(reserved) };
  const ipAddress = [spec['v4IpAddress'], spec['v6IpAddress']].filter((text) => text !== '').join(',');
  made.bench.put('ips', {
    metadata: { name: 'web.shop', labels },
    spec: { podName: 'web', namespace: 'shop', subnet: 'net', podType: '', macAddress: '0a:00:00:00:00:05', ipAddress, ...spec },
  });
}

function has(made: PodScene, pod = 'web'): readonly unknown[] {
  const { ipAddress, v4IpAddress, v6IpAddress } = made.bench.object('ips', `${pod}.shop`)?.spec ?? {};
  return [
    made.addressOf(`shop/${pod}`),
    (made.portAddresses(`${pod}.shop`) as readonly string[])[0]?.split(' ').slice(1).join(','),
    ipAddress,
    v4IpAddress,
    v6IpAddress,
  ];
}

test('a pod gets the requested family of a dual-stack IP object, and the other half is free', () => {
  for (const [family, address, v4, v6] of [
    ['ipv4', BOTH.v4IpAddress, BOTH.v4IpAddress, ''],
    ['ipv6', BOTH.v6IpAddress, '', BOTH.v6IpAddress],
  ] as const) {
    const made = scene();
    madeAgain(made, BOTH);
    made.pod('web', { annotations: { [FAMILY]: family } });
    made.bench.converge();
    assert.deepEqual(has(made), [address, address, address, v4, v6]);
    assert.equal(made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound'), undefined);
    const taker = { 'ovn.kubernetes.io/ip_address': family === 'ipv4' ? '10.95.0.9,fd00:95::5' : '10.95.0.5,fd00:95::9' };
    made.pod('taker', { annotations: taker });
    made.bench.converge();
    assert.equal(made.addressOf('shop/taker'), taker['ovn.kubernetes.io/ip_address']);
  }
});

test('with an IP object of only the other family a pod gets one of its own', () => {
  const made = scene();
  madeAgain(made, { ...BOTH, v4IpAddress: '' });
  made.pod('web', { annotations: { [FAMILY]: 'ipv4' } });
  made.bench.converge();
  assert.deepEqual(has(made), ['10.95.0.2', '10.95.0.2', '10.95.0.2', '10.95.0.2', '']);
});

test('the next pod of a StatefulSet gets the half that its template requests now, or another address', () => {
  const made = scene();
  made.statefulSet('db', 1);
  const next = (annotations: Readonly<Record<string, string>>): string | undefined => {
    made.bench.removeByForce('pods', 'shop/db-0');
    made.bench.converge();
    made.pod('db-0', { statefulSet: 'db', annotations });
    made.bench.converge();
    return made.addressOf('shop/db-0');
  };
  assert.equal(next({}), '10.95.0.2,fd00:95::2');
  assert.equal(next({ [FAMILY]: 'ipv4' }), '10.95.0.2');
  assert.deepEqual(has(made, 'db-0'), ['10.95.0.2', '10.95.0.2', '10.95.0.2', '10.95.0.2', '']);
  assert.equal(made.bench.object('subnets', 'net')?.status?.['v6usingIPrange'], '');
  assert.equal(next({ [FAMILY]: 'ipv6' }), 'fd00:95::3', 'the one that was given back is given last');
  assert.equal(made.bench.object('subnets', 'net')?.status?.['v4usingIPrange'], '');
});

test("a user's reservation stays complete, and the pod reports it; so do a pod's addresses when it requests less", () => {
  const made = scene();
  madeAgain(made, BOTH, true);
  made.pod('web', { annotations: { [FAMILY]: 'ipv4' } });
  made.bench.converge();
  const both = `${BOTH.v4IpAddress},${BOTH.v6IpAddress}`;
  assert.deepEqual(has(made), [both, both, both, BOTH.v4IpAddress, BOTH.v6IpAddress]);
  const kept = new RegExp(`metadata\\.annotations\\[${FAMILY}\\] "ipv4" is not in effect: it has ${both} of Subnet net`);
  assert.match(made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.message ?? '', kept);
  made.pod('late');
  made.bench.converge();
  const address = made.addressOf('shop/late');
  made.bench.put('pods', {
    metadata: {
      ...made.bench.object('pods', 'shop/late')?.metadata,
      name: 'late',
      annotations: { ...made.annotations('shop/late'), [FAMILY]: 'ipv4' },
    },
  });
  made.bench.converge();
  assert.equal(made.addressOf('shop/late'), address);
});
