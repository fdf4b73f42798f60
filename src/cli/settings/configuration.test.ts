import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Command } from 'commander';
import { parse } from 'yaml';
import { config } from '../commands/config.ts';
import type { StartFlags } from './start-flags.ts';
import type { Configured } from './configuration.ts';
import { acceptedBy, ConfigurationError, configure, settingsOf } from './configuration.ts';
import { addStartOptions } from './start-options.ts';
import { startProblem } from './start-problem.ts';
import { runHere } from '../testing/command-here.ts';

const directory = mkdtempSync(join(tmpdir(), 'kiln-config-'));
after(() => rmSync(directory, { recursive: true }));

let files = 0;
function file(text: string): string {
  const path = join(directory, `${++files}.yaml`);
  writeFileSync(path, text);
  return path;
}

interface Result {
  readonly flags: StartFlags;
  readonly settings: readonly Configured[];
}

function given(args: readonly string[], env: NodeJS.ProcessEnv = {}): Result {
  const command = addStartOptions(new Command('start').exitOverride().configureOutput({ writeErr: () => undefined }));
  command.parse(args, { from: 'user' });
  const settings = configure(command, env);
  return { flags: command.opts<StartFlags>(), settings };
}

function refusal(args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  try {
    given(args, env);
  } catch (error) {
    assert.ok(error instanceof ConfigurationError, String(error));
    assert.doesNotMatch(error.message, /\n/, 'one sentence');
    return error.message;
  }
  assert.fail('it was taken');
}

function source({ settings }: Result, key: string): string {
  return settings.find((one) => one.key === key)?.source ?? 'unknown';
}

test('a flag counts before the environment, that before the file, and that before the default', () => {
  const path = file(
    'nodes: 3\ndefaultCidr: 10.30.0.0/16\nleaderElectLeaseDuration: 30\ndemo: false\ndefaultExcludeIps: [10.30.0.5, 10.30.0.7..10.30.0.9]\n',
  );
  const result = given(['--config', path, '--default-cidr', '10.40.0.0/16'], {
    KILN_DEFAULT_CIDR: '10.50.0.0/16',
    KILN_NODES: '4',
    KILN_READ_ONLY: 'true',
  });
  const { flags } = result;
  assert.equal(flags.defaultCidr, '10.40.0.0/16');
  assert.equal(flags.nodes, 4);
  assert.equal(flags.leaderElectLeaseDuration, 30);
  assert.equal(flags.demo, false);
  assert.equal(flags.readOnly, true);
  assert.deepEqual(flags.defaultExcludeIps, ['10.30.0.5', '10.30.0.7..10.30.0.9']);
  assert.equal(flags.namespace, 'kube-system');
  assert.deepEqual(
    ['defaultCidr', 'nodes', 'leaderElectLeaseDuration', 'demo', 'readOnly', 'namespace'].map((key) => source(result, key)),
    ['flag', 'environment', 'file', 'file', 'environment', 'default'],
  );
  assert.equal(given([], { KILN_CONFIG: path }).flags.nodes, 3);
});

test('neighbours are a list of mappings in a file, JSON elsewhere; a pattern that matches what Kiln makes is refused', () => {
  const list = [{ name: 'octavia', externalIds: '^octavia:', names: '^lb-[0-9a-f]{8,36}$' }];
  const yaml = file("neighbours:\n- name: octavia\n  externalIds: '^octavia:'\n  names: '^lb-[0-9a-f]{8,36}$'\n");
  assert.deepEqual(given(['--config', yaml]).flags.neighbours, list);
  assert.deepEqual(given([], { KILN_NEIGHBOURS: JSON.stringify(list) }).flags.neighbours, list);
  assert.match(
    refusal(['--config', file('neighbours:\n- name: a\n  pattern: x\n')]),
    /is no list such as .*name, and externalIds, names or both/,
  );
  assert.match(
    refusal(['--config', file('neighbours:\n- name: a\n  names: "a(b"\n')]),
    /neighbours: a: names \/a\(b\/ is no regular expression of RE2: missing closing \)/,
  );
  const wide = given([], { KILN_NEIGHBOURS: '[{"name":"a","names":"^ovn"}]' });
  assert.match(startProblem(wide.flags, wide.settings) ?? '', /--neighbours: a: names \/\^ovn\/ matches ovn-cluster, which is Kiln's own/);
});

test('an unknown name is an error that names the similar one', () => {
  assert.match(refusal(['--config', file('defaultCdir: 10.0.0.0/16\n')]), /"defaultCdir" is not a setting; did you mean defaultCidr\?/);
  assert.match(refusal(['--config', file('bogus: 1\n')]), /"bogus" is not a setting$/);
  assert.match(refusal(['--config', file('default-cidr: 10.0.0.0/16\n')]), /did you mean defaultCidr\?/);
  assert.match(
    refusal([], { KILN_DEFAULT_CIRD: 'x' }),
    /environment variable KILN_DEFAULT_CIRD is not a setting; did you mean KILN_DEFAULT_CIDR\?/,
  );
  assert.match(refusal([], { KILN_WHATEVER_ELSE: 'x' }), /is not a setting$/);
});

test('nothing is suggested that is not near', () => {
  for (const far of ['KILN_FOO', 'KILN_PROD', 'KILN_X', 'KILN_NOTE', 'KILN_CHECK_ALL'])
    assert.match(refusal([], { [far]: 'x' }), new RegExp(`${far} is not a setting$`));
  for (const [near, meant] of [
    ['KILN_PROT', 'KILN_PORT'],
    ['KILN_KEPP', 'KILN_KEEP'],
    ['KILN_ONV_NB', 'KILN_OVN_NB'],
    ['KILN_NODE', 'KILN_NODES'],
  ] as const)
    assert.match(refusal([], { [near]: 'x' }), new RegExp(`did you mean ${meant}\\?$`));
});

test('what a cluster sets beside a Service named kiln is no setting', () => {
  const { flags } = given([], {
    KILN_SERVICE_HOST: '10.96.0.9',
    KILN_PORT: 'tcp://10.96.0.9:443',
    KILN_PORT_443_TCP_ADDR: '10.96.0.9',
    KILN_CACHE: '/c',
  });
  assert.equal(flags.port, undefined);
});

test('an invalid value from any source is an error with the source, the value and the rule', () => {
  assert.match(refusal([], { KILN_NODES: '0' }), /^environment variable KILN_NODES: "0" is not a whole number from 1 to 500\.$/);
  assert.match(refusal([], { KILN_READ_ONLY: 'yes' }), /"yes" is neither true nor false/);
  assert.match(refusal([], { KILN_LOG_LEVEL: 'loud' }), /"loud" is none of debug, info, warn, error/);
  const path = file('defaultCidr: 10.16.0.0\n');
  assert.equal(refusal(['--config', path]).startsWith(`${path}: defaultCidr: "10.16.0.0" `), true);
  assert.match(refusal(['--config', file('metricsBindAddress: localhost\n')]), /metricsBindAddress: "localhost" is neither HOST:PORT/);
  assert.match(refusal(['--config', file('nodes: {a: 1}\n')]), /nodes: a value or a list of values is expected/);
});

test('a file that is not a list of settings is an error', () => {
  assert.match(refusal(['--config', join(directory, 'none.yaml')]), /none\.yaml cannot be read/);
  assert.match(refusal(['--config', file('a: [1\n')]), /is not YAML: .*[^:]$/);
  assert.match(
    refusal(['--config', file('nodes: 1\n---\nnodes: 2\n')]),
    /^\S+\.yaml holds more than one YAML document: another begins at line 2; write all settings into one, without "---" between them$/,
  );
  assert.match(refusal(['--config', file('- nodes\n')]), /is not a list of settings/);
  assert.deepEqual(given(['--config', file('# nothing\n')]).flags.nodes, 2);
});

test('what is right one by one and wrong together is one sentence', () => {
  const problem = (...args: string[]): string | undefined => startProblem(given(args).flags);
  assert.equal(problem(), undefined);
  assert.match(problem('--kubeconfig', 'k') ?? '', /^--kubeconfig needs --ovn-nb/);
  assert.match(problem('--in-cluster') ?? '', /^--in-cluster needs --ovn-nb/);
  assert.match(problem('--kubeconfig', 'k', '--in-cluster', '--ovn-nb', 'tcp:10.0.0.1:6641') ?? '', /name two clusters/);
  assert.match(problem('--default-cidr', '100.64.0.0/10') ?? '', /--default-cidr .* overlaps --node-switch-cidr/);
  assert.match(problem('--leader-elect-retry-period', '20') ?? '', /must be less than/);
  const addresses = (webhook: string, metrics: string): string | undefined =>
    problem('--webhook-bind-address', webhook, '--metrics-bind-address', metrics);
  for (const [webhook, metrics] of [
    ['127.0.0.1:10680', '127.0.0.1:10680'],
    [':10680', '127.0.0.1:10680'],
    ['127.0.0.1:10680', ':10680'],
  ] as const)
    assert.equal(
      addresses(webhook, metrics),
      `--webhook-bind-address ${webhook} and --metrics-bind-address ${metrics} are the same; each needs its own port`,
    );
  assert.equal(addresses('127.0.0.1:10680', '127.0.0.2:10680'), undefined);
  assert.equal(addresses(':10680', ':10681'), undefined);
  assert.equal(addresses(':10680', 'off'), undefined);
  assert.match(problem('--read-only') ?? '', /^--read-only needs --kubeconfig/);
  assert.equal(problem('--read-only', '--in-cluster', '--ovn-nb', 'tcp:10.0.0.1:6641'), undefined);
  assert.match(problem('--in-cluster', '--ovn-nb', '') ?? '', /^--ovn-nb "" names no endpoint/);
  assert.match(
    problem('--in-cluster', '--ovn-nb', 'tcp:10.0.0.1:6641,10.0.0.2') ?? '',
    /^--ovn-nb tcp:10\.0\.0\.1:6641,10\.0\.0\.2: endpoint "10\.0\.0\.2" is not unix:PATH/,
  );
  const real = ['--kubeconfig', 'k', '--ovn-nb', 'tcp:10.0.0.1:6641,ssl:10.0.0.2:6641'];
  assert.equal(problem(...real), '--ovn-nb ssl:10.0.0.2:6641 uses TLS and needs --ovn-ca and --ovn-cert and --ovn-key as well');
  const pem = file('x');
  assert.match(problem(...real, '--ovn-ca', pem, '--ovn-cert', pem, '--ovn-key', '/none') ?? '', /^--ovn-key \/none cannot be read/);
  const inline = problem(...real, '--ovn-ca', pem, '--ovn-cert', pem, '--ovn-key', '-----BEGIN PRIVATE KEY-----\nhunter22') ?? '';
  assert.equal(inline, '--ovn-key expects the path of a file, not its contents');
});

test('invalid names of objects, and of interfaces that no node agent makes, are errors that name them', () => {
  assert.match(refusal([], { KILN_NAMESPACE: 'Bad NS' }), /^environment variable KILN_NAMESPACE: "Bad NS" is no name of a namespace/);
  assert.match(refusal([], { KILN_NAMESPACE: 'a.b' }), /"a\.b" is no name of a namespace/);
  assert.match(refusal(['--config', file("namespace: ''\n")]), /: namespace: "" is no name of a namespace/);
  assert.match(refusal([], { KILN_WEBHOOK_SECRET: 'Bad' }), /"Bad" is no name of an object/);
  assert.match(refusal([], { KILN_WEBHOOK_CONFIGURATION: '-' }), /"-" is no name of an object/);
  assert.match(refusal([], { KILN_POD_NIC_TYPE: 'wire' }), /KILN_POD_NIC_TYPE: "wire" is none of veth-pair, offload-port, /);
  const right = given([], { KILN_NAMESPACE: 'net-1', KILN_WEBHOOK_SECRET: 'a.b', KILN_POD_NIC_TYPE: 'internal-port' }).flags;
  assert.deepEqual([right.namespace, right.webhookSecret, right.podNicType], ['net-1', 'a.b', 'internal-port']);
});

test('a laboratory starts although the environment has the Northbound database of a former one', () => {
  const exported = given([], { KILN_OVN_NB: 'unix:/tmp/kiln-ovn-1/nb.sock' });
  assert.equal(startProblem(exported.flags, exported.settings), undefined);
  const typed = given(['--ovn-nb', 'tcp:10.0.0.1:6641']);
  assert.match(startProblem(typed.flags, typed.settings) ?? '', /^--ovn-nb needs --kubeconfig/);
  const written = given(['--config', file('ovnNb: tcp:10.0.0.1:6641\n')]);
  assert.match(startProblem(written.flags, written.settings) ?? '', /^--ovn-nb needs --kubeconfig/);
});

test('kiln config prints every setting with its source, as a file with the same settings, and no secret', () => {
  const result = given(['--nodes', '5', '--webhook-certificate-lifetime', '30d', '--default-exclude-ips', '10.16.0.2,10.16.0.3'], {
    KILN_DEFAULT_LS: 'first',
    KILN_OVN_KEY: '-----BEGIN PRIVATE KEY-----\nhunter22',
  });
  const print = (output: 'table' | 'yaml' | 'json'): string => {
    let text = '';
    assert.equal(
      config({ ...result.flags, output }, result.settings, (more) => (text += more)),
      0,
    );
    assert.doesNotMatch(text, /hunter22/);
    return text;
  };
  assert.match(print('table'), /^SETTING +VALUE +SOURCE +VARIABLE\n/);
  assert.match(print('table'), /^nodes +5 +flag +KILN_NODES$/m);
  assert.match(print('table'), /^defaultLs +first +environment +KILN_DEFAULT_LS$/m);
  const json = JSON.parse(print('json')) as {
    readonly settings: readonly { readonly name: string; readonly value?: unknown; readonly source: string }[];
  };
  assert.deepEqual(
    json.settings.map(({ name }) => name),
    result.settings.map(({ key }) => key),
  );
  assert.deepEqual(
    json.settings.find(({ name }) => name === 'enableLb'),
    { name: 'enableLb', value: true, source: 'default', flag: '--enable-lb', variable: 'KILN_ENABLE_LB' },
  );
  // Boolean settings are booleans in YAML and JSON as well, whether set or not.
  const written = parse(print('yaml')) as Record<string, unknown>;
  for (const { key, option } of result.settings.filter((one) => acceptedBy(one.option) === 'true or false')) {
    assert.equal(typeof written[key], 'boolean', `${key} ${option.flags}`);
    assert.equal(typeof json.settings.find(({ name }) => name === key)?.value, 'boolean', key);
  }
  const { ovnKey: _, ...yaml } = parse(print('yaml')) as Record<string, unknown>;
  const again = given(['--config', file(JSON.stringify(yaml))]);
  const texts = ({ settings }: Result): Record<string, string | undefined> =>
    Object.fromEntries(settings.map(({ key, text }) => [key, key === 'ovnKey' ? undefined : text]));
  assert.deepEqual(texts(again), texts(result));
  assert.deepEqual(again.flags.defaultExcludeIps, result.flags.defaultExcludeIps);
});

test('every setting has a description and a type, and a variable of its own', () => {
  const settings = settingsOf(addStartOptions(new Command('start')));
  assert.ok(settings.length > 25);
  assert.equal(new Set(settings.map(({ variable }) => variable)).size, settings.length);
  for (const { key, option } of settings) {
    assert.notEqual(option.description, '', key);
    assert.notEqual(acceptedBy(option), '', key);
  }
});

test('a wrong setting ends the command with the three lines of every failure and exit code 2, before anything starts', async () => {
  const wrong = [
    [['start', '--metrics-bind-address', 'http://admin:hunter22@a:1'], {}, /"http:\/\/admin:\[redacted\]@a:1" is neither HOST:PORT/],
    [['start', '--nodes', 'many'], {}, /argument 'many' is invalid.*whole number/],
    [
      ['start'],
      { KILN_OVN_CA: '/ca.pem' },
      /^ {2}why: ssl endpoints need all of --ovn-ca.* \(--ovn-ca is set by the environment variable KILN_OVN_CA\)$/m,
    ],
    [['start'], { KILN_NODES: 'many' }, /^ {2}why: environment variable KILN_NODES: "many" is not a whole number from 1 to 500\.$/m],
    [
      ['start', '--kubeconfig', '/none', '--ovn-nb', 'ssl:admin:hunter22@10.0.0.1:6641'],
      {},
      /^ {2}why: --ovn-nb ssl:admin:\[redacted\]@10\.0\.0\.1:6641: endpoint "ssl:admin:\[redacted\]@10\.0\.0\.1:6641" is not unix:PATH.*$/m,
    ],
    [['config', '--config', '/none.yaml'], {}, /^ {2}why: --config \/none\.yaml cannot be read.*$/m],
    [['start', '--directory', '/proc/kiln', '--no-demo'], {}, /^error: --directory \/proc\/kiln cannot be made\n/],
  ] as const;
  for (const [args, variables, expected] of wrong) {
    const { exit, err } = await runHere(args, variables);
    assert.match(err, expected);
    assert.match(err, /^error: .+\n {2}why: .+\n {2}next: .+\n$/);
    assert.doesNotMatch(err, /hunter22/);
    assert.equal(exit, 2);
  }
  const unknown = file('nods: 1\n');
  for (const [args, variables, next] of [
    [['start'], { KILN_DEFAULT_CIRD: 'x' }, 'unset KILN_DEFAULT_CIRD'],
    [['start', '--config', unknown], {}, 'kiln config'],
    [['start'], { KILN_CONFIG: unknown }, 'KILN_CONFIG= kiln config'],
  ] as const)
    assert.ok((await runHere(args, variables)).err.endsWith(`\n  next: ${next}\n`), next);
  assert.equal((await runHere(['config'], { KILN_CONFIG: '' })).exit, 0);
});

test('kiln config prints settings that contradict each other, then the error', async () => {
  const { exit, out, err } = await runHere(['config'], { KILN_OVN_CA: '/ca.pem' });
  assert.match(out, /^ovnCa +\/ca\.pem +environment +KILN_OVN_CA$/m);
  assert.match(err, /^error: kiln start would not run with these settings\n {2}why: ssl endpoints need all/);
  assert.equal(exit, 2);
});
