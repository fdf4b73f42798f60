import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chainLines, FILTER_CHAINS, type FilterChain, rulesOf } from './other-firewalls.ts';

const LISTING = `table ip filter {
	chain FORWARD { # handle 1
		type filter hook forward priority filter; policy drop;
		iifname "ovn0" counter packets 3 bytes 252 accept comment "kiln" # handle 3
		iifname "ovn0" counter accept comment "kiln" # handle 7
		iifname "docker0" counter accept comment "kilns" # handle 8
		ip saddr 192.0.2.1 counter accept # handle 2
	}
}`;
const [forward, input] = FILTER_CHAINS;
assert.ok(forward && input);

/** The chain after the lines, as nft would have it: positions and handles only. */
function after(rules: readonly string[], device: 'ovn0' | 'none' = 'ovn0'): readonly string[] {
  const listing = rules.map((text, at) => `\t\t${text} # handle ${at + 10}`).join('\n');
  const chain = [...rulesOf(listing)].map(({ text, handle }) => ({ text, handle }));
  for (const line of chainLines(forward as FilterChain, device === 'none' ? undefined : device, rulesOf(listing))) {
    const [, verb, position, text = '', removed] =
      /^(?:(add|insert) rule ip filter FORWARD (?:position (\d+) )?(.*)|delete rule ip filter FORWARD handle (\d+))$/.exec(line) ?? [];
    if (removed !== undefined)
      chain.splice(
        chain.findIndex(({ handle }) => handle === removed),
        1,
      );
    else if (verb === 'add') chain.push({ text, handle: 'new' });
    else chain.splice(position === undefined ? 0 : chain.findIndex(({ handle }) => handle === position), 0, { text, handle: 'new' });
  }
  return chain.map(({ text }) => text);
}

const OURS = ['iifname "ovn0" counter accept comment "kiln"', 'oifname "ovn0" counter accept comment "kiln"'];
const KUBE_PROXY = ['counter jump KUBE-FORWARD', 'ct state new counter jump KUBE-SERVICES'];

test('a second rule of ours is removed, and no other rule', () => {
  assert.deepEqual(chainLines(forward, undefined, rulesOf(LISTING)), [
    'delete rule ip filter FORWARD handle 3',
    'delete rule ip filter FORWARD handle 7',
  ]);
  assert.deepEqual(chainLines(input, 'ovn0', []), ['add rule ip filter INPUT iifname "ovn0" counter accept comment "kiln"']);
  const firewalld = FILTER_CHAINS.find(({ table }) => table === 'inet firewalld');
  assert.ok(firewalld);
  assert.deepEqual(chainLines(firewalld, 'ovn0', rulesOf('\t\treject with icmpx admin-prohibited # handle 4')), [
    'insert rule inet firewalld filter_FORWARD iifname "ovn0" counter accept comment "kiln"',
    'insert rule inet firewalld filter_FORWARD oifname "ovn0" counter accept comment "kiln"',
  ]);
});

for (const [what, judging, dropping] of [
  ['an empty chain', [], []],
  ["kube-proxy's", KUBE_PROXY, []],
  ["Docker's, and one that refuses a network", ['counter jump DOCKER-USER', 'ip daddr 192.0.2.0/24 counter reject', ...KUBE_PROXY], []],
  ['a reject for the rest', [...KUBE_PROXY, 'ct state invalid counter drop'], ['counter reject with icmp type host-prohibited']],
  ['with packets counted', KUBE_PROXY, ['counter packets 7 bytes 420 drop']],
  ['as another version of nft shows it', KUBE_PROXY, ['counter packets 0 bytes 0 xt target "REJECT"', 'counter drop']],
  ['logged before', KUBE_PROXY, ['limit rate 3/minute counter log prefix "left "', 'counter log', 'counter drop']],
  [
    "ufw's",
    ['counter jump ufw-before-forward', 'counter jump ufw-after-forward'],
    ['counter jump ufw-after-logging-forward', 'counter jump ufw-reject-forward'],
  ],
] as const)
  test(`ours are behind all that judge, and before what drops the rest: ${what}`, () => {
    const expected = [...judging, ...OURS, ...dropping];
    assert.deepEqual(after([...judging, ...dropping]), expected, 'new');
    assert.deepEqual(after([...OURS, ...judging, ...dropping]).toSorted(), expected.toSorted());
    for (const before of [
      [...OURS, ...judging, ...dropping],
      [...judging, ...dropping, ...OURS],
      [OURS[0] ?? '', ...judging, OURS[1] ?? '', ...dropping],
    ])
      assert.deepEqual(after(after(before)), after(before), 'stays');
    if (judging.length > 0)
      for (const before of [
        [...OURS, ...judging, ...dropping],
        [OURS[0] ?? '', ...judging, OURS[1] ?? '', ...dropping],
      ])
        assert.ok(after(before).slice(0, judging.length).join() === judging.join(), `moved: ${after(before).join('\n')}`);
    assert.deepEqual(after(expected), expected);
    assert.deepEqual(after(expected, 'none'), [...judging, ...dropping], 'removed');
  });
