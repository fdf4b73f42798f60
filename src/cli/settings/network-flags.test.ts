import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import type { NetworkFlags } from './network-flags.ts';
import { addNetworkFlags, addNetworkOverrides, networkSettings } from './network-flags.ts';

function parse(...args: readonly string[]): NetworkFlags {
  const command = addNetworkFlags(new Command('test').exitOverride().configureOutput({ writeErr: () => undefined }));
  return command.parse(args, { from: 'user' }).opts<NetworkFlags>();
}

test('without flags the settings are the defaults', () => {
  assert.deepEqual(networkSettings(parse()), { ok: true, settings: DEFAULT_SETTINGS });
});

test('networks are made canonical and may have both families', () => {
  const parsed = networkSettings(
    parse(
      '--default-cidr',
      '10.20.3.0/16,FD00:10:16::/64',
      '--enable-lb',
      'false',
      '--default-exclude-ips',
      '10.20.0.2..10.20.0.9,10.20.0.11',
    ),
  );
  assert.ok(parsed.ok);
  assert.equal(parsed.settings.defaultCidr, '10.20.0.0/16,fd00:10:16::/64');
  assert.equal(parsed.settings.enableLb, false);
  assert.deepEqual(parsed.settings.defaultExcludeIps, ['10.20.0.2..10.20.0.9', '10.20.0.11']);
});

test('a wrong value is an error with the value and the rule', () => {
  assert.throws(() => parse('--default-cidr', '10.16.0.0'), /10\.16\.0\.0.*it is a network such as/);
  assert.throws(() => parse('--enable-lb', 'maybe'), /neither true nor false/);
  assert.throws(() => parse('--network-type', 'gre'), /geneve, vxlan, stt/);
});

test('limits, modes and rules of the collection: a wrong one is refused with what it would be', () => {
  const { gcMaxRows, gcKubeOvnGrace, gcRules } = parse(
    '--gc-max-rows=5',
    '--gc-kube-ovn-grace=30m',
    '--gc-rules=[{"mode":"off","table":"NAT"}]',
  );
  assert.deepEqual([gcMaxRows, gcKubeOvnGrace, gcRules], [5, 1_800, [{ mode: 'off', table: 'NAT' }]]);
  for (const flag of ['--gc-max-rows', '--gc-max-share', '--gc-share-from'])
    assert.throws(() => parse(flag, '0'), /is no limit: every row would wait for an approval.*kiln gc pause/);
  assert.throws(() => parse('--gc-max-share', '101'), /no whole number from 1 to 100/);
  assert.throws(() => parse('--gc', 'maybe'), /on, report, off/);
  assert.throws(() => parse('--gc-rules', '[{"mode":"off","table":"NATs"}]'), /"NATs" is no table that Kiln writes/);
  assert.throws(() => parse('--gc-rules', '[{"mode":"off","names":"a("}]'), /names \/a\(\//);
  assert.throws(() => parse('--gc-kube-ovn-grace', 'soon'), /no duration/);
});

test('a flag overrides a setting of the leader, and that overrides the default', () => {
  const command = addNetworkOverrides(new Command('test'));
  const flags = command.parse(['--misbound=evict', '--default-exclude-ips', ''], { from: 'user' }).opts<Partial<NetworkFlags>>();
  const leaderSettings = { ...DEFAULT_SETTINGS, defaultVpc: 'main', defaultExcludeIps: ['10.16.0.9'], misbound: 'rebind' } as const;
  assert.deepEqual(networkSettings(flags, leaderSettings), {
    ok: true,
    settings: { ...leaderSettings, defaultExcludeIps: [], misbound: 'evict' },
  });
});

test('overlapping networks are an error that names both flags', () => {
  const parsed = networkSettings(parse('--default-cidr', '100.64.0.0/10'));
  assert.deepEqual(parsed, {
    ok: false,
    problem: '--default-cidr 100.64.0.0/10 overlaps --node-switch-cidr 100.64.0.0/16; the three networks must be apart',
  });
});

test('gateways lie in their networks, and Vpc and Subnets have names of their own', () => {
  const problem = (...args: string[]): string => {
    const parsed = networkSettings(parse(...args));
    return parsed.ok ? '' : parsed.problem;
  };
  assert.equal(
    problem('--default-gateway', '11.0.0.1'),
    '--default-gateway 11.0.0.1 is no address that a host of --default-cidr 10.16.0.0/16 can have; a gateway lies in its network',
  );
  assert.match(problem('--default-gateway', '10.16.255.255'), /^--default-gateway 10\.16\.255\.255 is no address/);
  assert.match(problem('--default-gateway', '10.16.0.1,fd00::1'), /^--default-gateway fd00::1 is no address/);
  assert.match(problem('--node-switch-gateway', '10.16.0.1'), /of --node-switch-cidr 100\.64\.0\.0\/16/);
  assert.equal(problem('--default-gateway', '10.16.0.9', '--node-switch-gateway', '100.64.0.9'), '');
  assert.equal(problem('--default-cidr', '10.16.0.0/16,fd00::/64', '--default-gateway', 'fd00::1,10.16.0.1'), '');
  assert.equal(
    problem('--default-exclude-ips', '10.16.0.2,1.1.1.1..1.1.1.9'),
    '--default-exclude-ips 1.1.1.1..1.1.1.9 is outside of --default-cidr 10.16.0.0/16; only its addresses can be kept back',
  );
  assert.equal(problem('--default-exclude-ips', '10.15.0.0..10.16.0.9'), '');
  assert.match(problem('--default-exclude-ips', 'fd00::1'), /^--default-exclude-ips fd00::1 is outside/);
  assert.match(problem('--node-switch', 'ovn-default'), /^--default-ls and --node-switch are both ovn-default/);
  assert.match(problem('--default-ls', 'ovn-cluster'), /^--cluster-router and --default-ls are both ovn-cluster/);
  for (const flag of ['--cluster-router', '--default-ls', '--node-switch', '--external-gateway-switch'])
    assert.throws(() => parse(flag, 'Bad Name'), /"Bad Name" is no name of an object/);
});

test('beside another primary plugin: the flag may stand alone or have a value', () => {
  for (const [args, expected] of [
    [[], false],
    [['--non-primary-cni-mode'], true],
    [['--non-primary-cni-mode=true'], true],
    [['--non-primary-cni-mode', 'false'], false],
  ] as const) {
    const parsed = networkSettings(parse(...args));
    assert.ok(parsed.ok);
    assert.equal(parsed.settings.nonPrimaryCni, expected, args.join(' '));
  }
  assert.throws(() => parse('--non-primary-cni-mode=maybe'), /"maybe" is neither true nor false/);
});

test('virtual machines keep their addresses by default', () => {
  const off = networkSettings(parse('--keep-vm-ip=false'));
  assert.ok(off.ok);
  assert.equal(off.settings.keepVmIp, false);
});
