import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentBreaches, attachmentKind } from './network-attachment.ts';
import { parseNetworkSelections } from './network-selection.ts';

const plain = { namespace: 'shop', interfaceName: '', ips: [], mac: '' };

test('the short form names networks, namespaces and interfaces', () => {
  assert.deepEqual(parseNetworkSelections('a, infra/b ,c@net1,infra/d@eth7', 'shop'), {
    ok: true,
    selections: [
      { ...plain, name: 'a' },
      { ...plain, name: 'b', namespace: 'infra' },
      { ...plain, name: 'c', interfaceName: 'net1' },
      { ...plain, name: 'd', namespace: 'infra', interfaceName: 'eth7' },
    ],
  });
  assert.deepEqual(parseNetworkSelections('  ', 'shop'), { ok: true, selections: [] });
});

test('the JSON form may request addresses and a MAC; foreign fields are ignored', () => {
  const text =
    '[{"name":"a.b","namespace":"infra","interface":"net1","ips":["10.1.0.5/24","fd00::5"],"mac":"0a:00:00:00:00:01","bandwidth":{}},{"name":"c"}]';
  assert.deepEqual(parseNetworkSelections(text, 'shop'), {
    ok: true,
    selections: [
      { namespace: 'infra', name: 'a.b', interfaceName: 'net1', ips: ['10.1.0.5/24', 'fd00::5'], mac: '0a:00:00:00:00:01' },
      { ...plain, name: 'c' },
    ],
  });
});

test('what is no selection names what is wrong with it', () => {
  for (const [text, problem] of [
    ['a,,b', /has ""/],
    ['Big', /has "Big"/],
    ['a/b/c', /has "a\/b\/c"/],
    ['a@b@c', /has "a@b@c"/],
    ['a@eth0', /interface "eth0"; every pod has one of that name already/],
    ['a@abcdefghijklmno,b@abcdefghijklmnop', /interface "abcdefghijklmnop"; .* at most 15 characters/],
    ['a@net1,b,c@net1', /interface "net1"; two interfaces/],
    ['[{"name":"a","interface":"net 1"}]', /interface "net 1"; .* no slash, colon or space/],
    ['[{"name":"a"}', /neither a list of names/],
    ['{"name":"a"}', /neither a list of names/],
    ['["a"]', /element 0 that is not an object/],
    ['[{"name":"a"},{"namespace":"b"}]', /element 1 without the name/],
    ['[{"name":"a","ips":"10.0.0.1"}]', /element 0 whose ips/],
    ['[{"name":"a","mac":7}]', /element 0 whose namespace, interface or mac/],
  ] as const) {
    const parsed = parseNetworkSelections(text, 'shop');
    assert.equal(parsed.ok, false, text);
    assert.match(parsed.problem, problem);
  }
});

test('the CNI configuration decides which plugin implements a network', () => {
  for (const [config, kind] of [
    [undefined, 'foreign'],
    [' ', 'foreign'],
    ['{"type":"kube-ovn","provider":"net.shop.ovn"}', 'ovn'],
    ['{"plugins":[{"type":"tuning"},{"type":"kube-ovn"}]}', 'ovn'],
    ['{"type":"macvlan","ipam":{"type":"kube-ovn"}}', 'ipam-only'],
    ['{"plugins":[{"type":"ipvlan","ipam":{"type":"kube-ovn"}}]}', 'ipam-only'],
    ['{"type":"macvlan","ipam":{"type":"host-local"}}', 'foreign'],
    ['{"type":"macvlan","plugins":7,"ipam":"kube-ovn"}', 'foreign'],
    ['{"type":', 'unreadable'],
    ['[]', 'unreadable'],
  ] as const)
    assert.equal(attachmentKind(config), kind, config);
});

test('fields of a CNI configuration that no plugin could read are named by path, with their type', () => {
  for (const [config, ...fields] of [
    [undefined],
    [' '],
    ['{"cniVersion":"0.3.0","name":"a","type":"kube-ovn","provider":"net.shop.ovn","server_socket":"/run/s"}'],
    ['{"type":"macvlan","provider":5,"ipam":{"type":"host-local","provider":5}}'],
    ['{"plugins":[{"type":"tuning"},{"type":"kube-ovn","mtu":1400}]}'],
    ['{"type":', 'spec.config is not JSON'],
    ['[1]', 'spec.config is JSON, but no object'],
    ['{}', 'spec.config.type is missing'],
    ['{"type":"kube-ovn","provider":5}', 'spec.config.provider is a number'],
    ['{"type":"macvlan","ipam":{"type":"kube-ovn","provider":["x"]}}', 'spec.config.ipam.provider is a list'],
    ['{"type":"macvlan","ipam":"kube-ovn"}', 'spec.config.ipam is a text'],
    ['{"name":7,"plugins":{"type":"kube-ovn"}}', 'spec.config.name is a number', 'spec.config.plugins is an object'],
    [
      '{"plugins":["tuning",{"type":false},{"type":"kube-ovn","provider":null}]}',
      'spec.config.plugins[0] is a text',
      'spec.config.plugins[1].type is true or false',
      'spec.config.plugins[2].provider is null',
    ],
    ['{"plugins":[]}', 'spec.config.plugins is empty'],
    ['{"type":""}', 'spec.config.type is missing'],
    ['{"plugins":[{"type":"tuning"},{"mtu":1400}]}', 'spec.config.plugins[1].type is missing'],
    ['{"type":"kube-ovn","provider":"net.shop.ovn"}'],
    ['{"type":"kube-ovn","provider":"ovn"}'],
    ['{"type":"kube-ovn"}'],
    ['{"type":"kube-ovn","provider":"net.shop"}', 'spec.config.provider is not the name of this network'],
    ['{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"net.shop"}}'],
    [
      '{"plugins":[{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"other.shop"}}]}',
      'spec.config.plugins[0].ipam.provider is not the name of this network',
    ],
    ['{"type":"macvlan","provider":"other","ipam":{"type":"whereabouts","provider":"other"}}'],
  ] as const)
    assert.deepEqual(
      attachmentBreaches({ namespace: 'shop', name: 'net' }, config).map(({ field, problem }) => `${field} ${problem}`),
      fields,
      config,
    );
});
