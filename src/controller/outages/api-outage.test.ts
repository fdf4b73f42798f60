import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '../../kube/errors.ts';
import type { KubeErrorCode } from '../../kube/errors.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { ResourceName } from '../../world/resources.ts';
import { ApiOutage } from './api-outage.ts';
import { cacheLog, definitionsLog } from '../reports/cache-log.ts';
import { logWrite } from '../reports/write-log.ts';

function recording(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const line =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      if (level !== 'debug') lines.push(`${level}: ${message} ${JSON.stringify(fields)}`);
    };
  return { lines, log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') } };
}

function error(code: KubeErrorCode): KubeError {
  return new KubeError(code, { verb: 'watch', resource: 'pods' }, 'what went wrong');
}

const RESOURCES = ['pods', 'subnets', 'vpcs', 'ips'] as const satisfies readonly ResourceName[];

test('an outage of the API server is two lines, however many subjects fail and how often', () => {
  const { log, lines } = recording();
  const clock = new ManualClock();
  let again = 0;
  const outage = new ApiOutage(log, clock, () => again++);
  const event = cacheLog(log, outage, clock);
  for (let minute = 0; minute < 5; minute++) {
    for (const resource of RESOURCES) event(resource, { kind: 'failure', error: error('KUBE_UNREACHABLE'), retryInMs: 500 });
    outage.failed('lease', error('KUBE_TIMEOUT'));
    logWrite(
      log,
      outage,
      { resource: 'ips', namespace: '', name: 'a', verb: 'delete', uid: 'u', events: [] },
      { ok: false, error: error('KUBE_DISCONNECTED') },
    );
    clock.advance(60_000);
  }
  assert.deepEqual([lines.length, again], [1, 0]);
  assert.match(lines[0] ?? '', /^warn: the API server is unavailable .*KUBE_UNREACHABLE/);
  for (const resource of RESOURCES) event(resource, { kind: 'state', state: 'synced', before: 'stale' });
  outage.answered('lease');
  assert.equal(lines.length, 1, 'a write has not succeeded yet');
  assert.equal(again, RESOURCES.length + 1, 'each answered subject calls answersAgain while others fail');
  outage.answered('lease');
  assert.equal(again, RESOURCES.length + 1, 'a subject that did not fail calls nothing');
  logWrite(
    log,
    outage,
    { resource: 'ips', namespace: '', name: 'a', verb: 'delete', uid: 'u', events: [] },
    { ok: true, object: undefined },
  );
  assert.deepEqual(lines.slice(1), [`info: the API server is back ${JSON.stringify({ ms: 300_000, failures: 30, affected: 6 })}`]);
});

test('an error of one resource is logged once, and its end once', () => {
  const { log, lines } = recording();
  const clock = new ManualClock();
  const event = cacheLog(log, new ApiOutage(log, clock, () => undefined), clock);
  for (let i = 0; i < 9; i++) event('subnets', { kind: 'failure', error: error('KUBE_NOT_SERVED'), retryInMs: 1_000 });
  event('pods', { kind: 'failure', error: error('KUBE_FORBIDDEN'), retryInMs: 1_000 });
  for (let i = 0; i < 2; i++) event('virtualmachines', { kind: 'failure', error: error('KUBE_NOT_SERVED'), retryInMs: 1_000 });
  event('subnets', { kind: 'state', state: 'synced', before: 'not-served' });
  assert.deepEqual(
    lines.map((line) => line.slice(0, line.indexOf('{') - 1)),
    [
      'warn: a kind of Kube-OVN is not served: its CRD is missing',
      'warn: list or watch failed',
      'info: an optional kind is not served: its CRD is not installed',
      'info: list and watch work again',
    ],
  );
});

test('a kind that is not served for a moment is not logged: the API server is starting; longer, it is logged', () => {
  const { log, lines } = recording();
  const clock = new ManualClock();
  const event = cacheLog(log, new ApiOutage(log, clock, () => undefined), clock);
  const missing = { kind: 'failure', error: error('KUBE_NOT_SERVED'), retryInMs: 1_000 } as const;
  const synced = { kind: 'state', state: 'synced', before: 'not-served' } as const;
  for (let times = 0; times < 3; times++) {
    event('subnets', synced);
    for (let seconds = 0; seconds < 9; seconds++, clock.advance(1_000)) event('subnets', missing);
  }
  assert.deepEqual(lines, []);
  clock.advance(1_000);
  event('subnets', missing);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^warn: a kind of Kube-OVN is not served: its CRD is missing/);
});

test('a missing right to watch definitions is logged once, with the command that grants it', () => {
  const { log, lines } = recording();
  const event = definitionsLog(log, new ApiOutage(log, new ManualClock(), () => undefined));
  for (let times = 0; times < 3; times++) event({ kind: 'failure', error: error('KUBE_FORBIDDEN'), retryInMs: 1_000 });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^warn: CustomResourceDefinitions cannot be watched.*KUBE_FORBIDDEN.*kubectl apply -f deploy\/rbac\.yaml/);
});

test('a kind with initializing storage is no outage; a missing object is no rejected write', () => {
  const { log, lines } = recording();
  const outage = new ApiOutage(log, new ManualClock(), () => assert.fail('there was no outage'));
  const begins = new KubeError('KUBE_TOO_MANY_REQUESTS', { verb: 'list', resource: 'vpcs' }, 'storage is (re)initializing');
  assert.equal(outage.failed('vpcs', begins), true);
  outage.answered('vpcs');
  const write = { resource: 'ips', namespace: '', name: 'a', verb: 'delete', uid: 'u', events: [] } as const;
  logWrite(log, outage, write, { ok: false, error: error('KUBE_NOT_FOUND') });
  assert.equal(lines.length, 0);
  logWrite(log, outage, write, { ok: false, error: error('KUBE_INVALID') });
  assert.equal(outage.failed('vpcs', error('KUBE_TOO_MANY_REQUESTS')), true);
  assert.deepEqual(
    lines.map((line) => line.slice(0, 32)),
    ['warn: write rejected {"verb":"de', 'warn: the API server is unavaila'],
  );
});
