import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedTexts, type RoutingLine, routingLines } from './routing-commands.ts';

test('what the kernel lists has the text of the output that made it', () => {
  const rules = [
    { priority: 0, src: 'all', table: '255' },
    { priority: 999, src: '10.20.0.5', table: '1001', protocol: '4' },
    { priority: 1000, src: '10.20.0.5', table: '1001', protocol: '111' },
    { priority: 1000, src: '10.20.0.0', srclen: 16, table: '1001', protocol: '111' },
    { priority: 1000, src: 'fd00:20::5', table: '1001', protocol: '111' },
  ];
  assert.deepEqual(listedTexts('rule', rules), [
    'from 10.20.0.5 lookup 1001 priority 1000',
    'from 10.20.0.0/16 lookup 1001 priority 1000',
    'from fd00:20::5 lookup 1001 priority 1000',
  ]);
  const routes = [
    { dst: 'default', gateway: '172.18.0.9', dev: 'eth1', table: '1001', flags: [] },
    { type: '9', dst: '10.16.0.0/16', table: '1001', flags: [] },
    { type: '9', dst: 'fd00:20::/112', dev: 'lo', table: '1001', metric: 1024, flags: [] },
  ];
  assert.deepEqual(listedTexts('route', routes), [
    'default via 172.18.0.9 table 1001',
    'throw 10.16.0.0/16 table 1001',
    'throw fd00:20::/112 table 1001',
  ]);
});

test('routes come before the rules that lead to them, and go after them; what is equal costs nothing', () => {
  const route = { family: 4, part: 'route', text: 'default via 172.18.0.9 table 1001' } as const;
  const rule = { family: 4, part: 'rule', text: 'from 10.20.0.5 lookup 1001 priority 1000' } as const;
  const both: readonly RoutingLine[] = [rule, route];
  assert.deepEqual(routingLines(4, both, []), [`route add ${route.text} proto 111`, `rule add ${rule.text} protocol 111`]);
  assert.deepEqual(routingLines(4, [], both), [`rule delete ${rule.text} protocol 111`, `route delete ${route.text} proto 111`]);
  assert.deepEqual([routingLines(4, both, both.toReversed()), routingLines(6, both, [])], [[], []]);
});
