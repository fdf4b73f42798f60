/** Of what `ip -json` shows: what a move to a bridge carries, and what it would lose. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AddressJson, RouteJson } from '../kernel/host-network.ts';
import { hostDetails, hostLinks } from './host-links.ts';
import type { NeighbourJson } from './unmovable.ts';

const LINK = { ifname: 'eth1', address: '02:00:00:00:00:01', mtu: 1500, flags: ['UP'] };
const ADDRESS = { local: '172.18.0.2', prefixlen: 16, broadcast: '172.18.255.255', scope: 'global', label: 'eth1' };
const VIA = { dst: '10.1.0.0/16', gateway: '172.18.0.1', dev: 'eth1', flags: [] };

interface Shown {
  readonly addresses?: readonly AddressJson[];
  readonly routes?: readonly RouteJson[];
  readonly neighbours?: readonly NeighbourJson[];
}

function eth1({ addresses = [], routes = [], neighbours = [] }: Shown) {
  const state = {
    links: [{ ...LINK, addr_info: addresses }],
    routes: routes.filter(({ table }) => table === undefined),
    otherRoutes: routes.filter(({ table }) => table !== undefined),
  };
  return hostLinks(state, hostDetails(`${JSON.stringify(neighbours)}\n${JSON.stringify([LINK])}\n`)).get('eth1');
}

test('the usual: an address of DHCP with its metric, routes of the kernel, of routers and of the agent, and of a DHCP client', () => {
  const link = eth1({
    addresses: [
      { ...ADDRESS, metric: 100 },
      { local: 'fe80::1', prefixlen: 64, scope: 'link' },
      { local: 'fd61::9', prefixlen: 64, scope: 'global', temporary: true },
      { local: 'fd61::2', prefixlen: 64, scope: 'global', noprefixroute: true },
      { local: 'fd62::2', prefixlen: 128, scope: 'global', noprefixroute: true },
    ],
    routes: [
      { dst: 'default', gateway: '172.18.0.1', dev: 'eth1', protocol: 'dhcp', prefsrc: '172.18.0.2', metric: 100, flags: [] },
      { dst: '172.18.0.0/16', dev: 'eth1', protocol: 'kernel', scope: 'link', prefsrc: '172.18.0.2', metric: 100, flags: [] },
      { dst: 'fd61::/64', dev: 'eth1', protocol: 'ra', metric: 100, flags: [], pref: 'medium' },
      { dst: 'default', protocol: 'ra', metric: 1024, flags: [], pref: 'medium', nexthops: [{ dev: 'eth1' }, { dev: 'eth1' }] },
      { dst: 'fe80::/64', dev: 'eth1', protocol: 'kernel', metric: 256, flags: [], pref: 'medium' },
      { type: 'multicast', dst: 'ff00::/8', dev: 'eth1', table: 'local', protocol: 'kernel', metric: 256, flags: [], pref: 'medium' },
      { dst: 'default', gateway: '172.18.0.1', dev: 'eth1', table: '77', protocol: '111', flags: [] },
      { ...VIA, dev: 'eth2', table: '99' },
      { dst: '10.2.0.0/16', flags: [], nexthops: [{ dev: 'eth2' }, { dev: 'eth3' }] },
      { ...VIA, flags: ['onlink'] },
    ],
    neighbours: [
      { dst: '172.18.0.7', dev: 'eth2', state: ['PERMANENT'] },
      { dst: '172.18.0.7', dev: 'eth1', state: ['REACHABLE'] },
    ],
  });
  assert.equal(link?.unmovable, undefined);
  assert.deepEqual(link?.addresses, ['172.18.0.2/16 brd 172.18.255.255 metric 100', 'fd62::2/128', 'fd61::2/64']);
  assert.deepEqual(link?.routes, ['0.0.0.0/0 via 172.18.0.1 proto dhcp src 172.18.0.2 metric 100', '10.1.0.0/16 via 172.18.0.1 onlink']);
});

test('addresses are in the order in which they were added, with what follows the name in their labels', () => {
  const link = eth1({
    addresses: [
      { ...ADDRESS, local: '172.18.0.9' },
      { ...ADDRESS, label: 'eth1:0' },
      { local: 'fd61::1', prefixlen: 64, scope: 'global' },
      { local: 'fd61::2', prefixlen: 64, scope: 'global' },
    ],
  });
  const options = 'brd 172.18.255.255';
  assert.deepEqual(link?.addresses, [`172.18.0.9/16 ${options}`, `172.18.0.2/16 ${options} label :0`, 'fd61::2/64', 'fd61::1/64']);
  assert.equal(link.unmovable, undefined);
});

test('what a move would lose is named', () => {
  for (const [shown, text] of [
    [
      { routes: [{ dst: '10.1.0.0/16', flags: [], nexthops: [{ dev: 'eth2' }, { dev: 'eth1' }] }] },
      'route 10.1.0.0/16 with several next hops',
    ],
    [{ routes: [{ dst: '10.2.0.0/16', via: { family: 'inet6', host: 'fd61::1' }, dev: 'eth1' }] }, 'route 10.2.0.0/16 via inet6 fd61::1'],
    [{ routes: [{ ...VIA, metrics: [{ mtu: 1400, advmss: 1300 }] }] }, 'route 10.1.0.0/16 with mtu, advmss'],
    [{ routes: [{ ...VIA, tos: '0x10' } as RouteJson] }, 'route 10.1.0.0/16 with tos'],
    [{ routes: [{ ...VIA, type: 'multicast' }] }, 'route 10.1.0.0/16 of type multicast'],
    [{ routes: [{ dst: 'fd97::/64', dev: 'eth1', pref: 'high' }] }, 'route fd97::/64 with pref high'],
    [{ routes: [{ ...VIA, table: '99' }] }, 'route 10.1.0.0/16 of table 99'],
    [{ addresses: [{ ...ADDRESS, address: '192.168.63.1', prefixlen: 32 }] }, 'address 172.18.0.2/32 with peer 192.168.63.1'],
    [{ addresses: [{ ...ADDRESS, label: 'lan:0' }] }, 'address 172.18.0.2/16 with label lan:0'],
    [{ addresses: [{ ...ADDRESS, noprefixroute: true }] }, 'address 172.18.0.2/16 with noprefixroute'],
    [{ neighbours: [{ dst: '172.18.0.7', dev: 'eth1', state: ['PERMANENT'] }] }, 'permanent neighbour 172.18.0.7'],
  ] as const)
    assert.deepEqual(eth1(shown)?.unmovable, [text]);
});

test('an address with a peer stays where it is, and one with a lifetime is known', () => {
  const link = eth1({
    addresses: [
      { ...ADDRESS, dynamic: true },
      { ...ADDRESS, local: '172.18.0.3', address: '192.168.63.1', prefixlen: 32 },
    ],
  });
  assert.deepEqual([link?.addresses, link?.leased], [['172.18.0.2/16 brd 172.18.255.255'], ['172.18.0.2/16']]);
});

test('a route over a next hop of the other family, which came after the move, keeps it', () => {
  const route = { dst: '10.2.0.0/16', via: { family: 'inet6', host: 'fd61::1' }, dev: 'eth1', flags: [] };
  assert.deepEqual(eth1({ routes: [route] })?.routes, ['10.2.0.0/16 via inet6 fd61::1']);
});

test('a version of ip that prints no empty list', () => {
  assert.deepEqual([...hostDetails(`${JSON.stringify([LINK])}\n`).links.keys()], ['eth1']);
  assert.deepEqual([...hostDetails('').links.keys()], []);
});
