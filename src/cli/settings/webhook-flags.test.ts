import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import type { WebhookFlags } from './webhook-flags.ts';
import { addWebhookFlags, reviewLabels, webhookSettings } from './webhook-flags.ts';

function parse(...args: readonly string[]): WebhookFlags {
  const command = addWebhookFlags(new Command('test').exitOverride().configureOutput({ writeErr: () => undefined }));
  return command.parse(args, { from: 'user' }).opts<WebhookFlags>();
}

test('without flags there is none; with an address it makes its own certificate, for the Service that leads to it', () => {
  assert.deepEqual(webhookSettings(parse(), 'kube-system'), { ok: true, port: undefined });
  assert.deepEqual(webhookSettings(parse('--webhook-bind-address', ':10671'), 'net'), {
    ok: true,
    host: undefined,
    port: 10_671,
    deletionInUse: 'wait',
    certificate: {
      kind: 'own',
      namespace: 'net',
      secret: 'kiln-webhook-tls',
      configuration: 'kiln',
      hosts: ['kiln-webhook.net.svc'],
      lifetimeMs: 90 * 24 * 3_600_000,
    },
  });
});

test('files are taken in pairs, and only where it is served', () => {
  const files = ['--webhook-cert', '/c', '--webhook-key', '/k'];
  assert.deepEqual(webhookSettings(parse('--webhook-bind-address', '127.0.0.1:1', ...files), 'net'), {
    ok: true,
    host: '127.0.0.1',
    port: 1,
    deletionInUse: 'wait',
    certificate: { kind: 'files', certificateFile: '/c', keyFile: '/k' },
  });
  assert.match(JSON.stringify(webhookSettings(parse(...files), 'net')), /--webhook-cert needs --webhook-bind-address/);
  assert.match(JSON.stringify(webhookSettings(parse('--webhook-key', '/k'), 'net')), /--webhook-cert and --webhook-key go together/);
});

test('a deletion of what is in use waits, or is denied where that is chosen', () => {
  const chosen = (...flags: string[]): unknown => {
    const settings = webhookSettings(parse('--webhook-bind-address', ':1', ...flags), 'net');
    return settings.ok && settings.port !== undefined ? settings.deletionInUse : undefined;
  };
  assert.deepEqual([chosen(), chosen('--webhook-deletion-in-use=deny')], ['wait', 'deny']);
  assert.throws(() => parse('--webhook-deletion-in-use=maybe'), /Allowed choices are wait, deny/);
});

test('the error of an invalid value has the value and the rule', () => {
  assert.throws(() => parse('--webhook-bind-address', 'here'), /"here" is neither HOST:PORT/);
  assert.throws(() => parse('--webhook-host', 'a,not a name'), /"not a name" is neither a DNS name nor an address/);
  assert.throws(() => parse('--webhook-certificate-lifetime', '1s'), /"1s" is not a duration of at least 10s/);
});

test('reviews are counted by known resources: any client can name unlimited others', () => {
  const allowed = { denials: [], warnings: [] };
  const labels = (group: string, resource: string): string => reviewLabels({ operation: 'CREATE', group, resource }, allowed).resource;
  assert.deepEqual([labels('kubeovn.io', 'vpcs'), labels('', 'pods')], ['vpcs', 'pods']);
  assert.deepEqual([labels('', 'vpcs'), labels('example.com', 'x1'), labels('', 'constructor')], ['other', 'other', 'other']);
});
