import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chainLines, FILTER_CHAINS, ourRules } from './other-firewalls.ts';

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

test('what is missing is inserted, a second rule of ours removed, and no other rule', () => {
  assert.ok(forward && input);
  assert.deepEqual(chainLines(forward, 'ovn0', ourRules(LISTING)), [
    'insert rule ip filter FORWARD oifname "ovn0" counter accept comment "kiln"',
    'delete rule ip filter FORWARD handle 7',
  ]);
  assert.deepEqual(chainLines(forward, undefined, ourRules(LISTING)), [
    'delete rule ip filter FORWARD handle 3',
    'delete rule ip filter FORWARD handle 7',
  ]);
  assert.deepEqual(chainLines(input, 'ovn0', []), ['insert rule ip filter INPUT iifname "ovn0" counter accept comment "kiln"']);
});
