import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentKey } from '../world/attachment.ts';
import type { DeviceOutput } from '../world/outputs.ts';
import { hasPair, hostEndLine, newPairLines } from './ip-commands.ts';
import { attachmentOf, isOurAlias, linkAlias } from './link-alias.ts';

const ATTACHMENT = {
  key: attachmentKey('c0ffee', 'net1'),
  containerId: 'c0ffee',
  interfaceName: 'net1',
  namespacePath: '/run/netns/a',
  pod: { namespace: 'shop', name: 'web-0' },
  provider: 'net1.default.ovn',
  routes: [],
};

test('an alias names its attachment; where that is too long, the container and interface alone', () => {
  const alias = linkAlias(ATTACHMENT);
  assert.equal(alias, 'kiln:c0ffee/net1 shop/web-0 net1.default.ovn /run/netns/a');
  assert.deepEqual(attachmentOf(alias), ATTACHMENT);
  const short = linkAlias({ ...ATTACHMENT, pod: { namespace: 'shop', name: 'w'.repeat(253) } });
  assert.deepEqual([short, attachmentOf(short), isOurAlias(short)], ['kiln:c0ffee/net1', undefined, true]);
  const longest = linkAlias({ ...ATTACHMENT, key: attachmentKey('c'.repeat(300), 'nét1') });
  assert.deepEqual([longest, attachmentOf(longest)], [`kiln:${'c'.repeat(250)}`, undefined]);
  assert.deepEqual([attachmentOf('another program'), isOurAlias('another program')], [undefined, false]);
});

test('a pair is made with its alias, also one whose maker was killed before its second line', () => {
  const output: DeviceOutput = {
    ...{ kind: 'device', name: 'c0ffee_net1_h' as never, attachment: ATTACHMENT.key, alias: linkAlias(ATTACHMENT), innerName: 'net1' },
    ...{ namespacePath: '/run/netns/a', mac: '00:00:00:aa:bb:cc', mtu: 1400, addresses: [], routes: [], checksumOffload: true },
    ...{ connected: true, detectsDuplicates: true, gateways: [], needsGateways: false, probeMs: 40 },
  };
  const observed = { kind: 'present', mac: output.mac, mtu: 1400, up: false, addresses: [], routes: [] } as const;
  assert.deepEqual([hasPair(output, observed), hasPair(output, { ...observed, up: true })], [false, true]);
  assert.equal(hostEndLine(output), `link set dev c0ffee_net1_h mtu 1400 alias "${output.alias}" txqueuelen 1000 up`);
  assert.deepEqual(newPairLines(output), [
    'link add name c0ffee_net1_h mtu 1400 type veth peer name net1 address 00:00:00:aa:bb:cc mtu 1400 netns /run/netns/a',
    hostEndLine(output),
  ]);
  // The line would be cut there, or be two arguments.
  for (const innerName of ['a#b', 'a"b', 'a\nb', 'a\\b'])
    assert.throws(() => newPairLines({ ...output, innerName }), /cannot be an argument of ip/);
});
