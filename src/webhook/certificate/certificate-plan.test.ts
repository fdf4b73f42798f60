import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { CertificateData, CertificatePlan } from './certificate-plan.ts';
import { certificatesIn, planCertificate } from './certificate-plan.ts';

const DAY = 24 * 3_600_000;
const HOSTS = ['kiln-webhook.kube-system.svc'];
const TIMES = { lifetimeMs: 90 * DAY };
const START = Date.parse('2026-01-01T00:00:00Z');

function written(plan: CertificatePlan, why: string): CertificateData {
  assert.ok(plan.kind === 'write' && plan.why === why, `${plan.kind} ${plan.kind === 'write' ? plan.why : ''}, and not ${why}`);
  return plan.data;
}

const trusted = (bundle: string, pem: string): boolean =>
  certificatesIn(bundle).some((ca) => new X509Certificate(pem).verify(new X509Certificate(ca).publicKey));

test('a certificate is made, kept, and rotated in two steps: first the next authority, then the next certificate', () => {
  const first = written(planCertificate(START, undefined, HOSTS, TIMES, undefined), 'first');
  const kept = planCertificate(START + 1_000, first, HOSTS, TIMES, START);
  assert.ok(kept.kind === 'keep');
  assert.equal(kept.until, START + 60 * DAY);
  assert.deepEqual(planCertificate(START + 59 * DAY, first, HOSTS, TIMES, START).kind, 'keep');

  const next = written(planCertificate(kept.until, first, HOSTS, TIMES, START), 'next');
  assert.deepEqual([next['tls.crt'], next['tls.key']], [first['tls.crt'], first['tls.key']], 'the present one is served on');
  assert.equal(certificatesIn(next['ca.crt']).length, 2);
  assert.ok(trusted(next['ca.crt'], next['tls.crt']) && trusted(next['ca.crt'], next['next.crt'] ?? ''));

  const now = kept.until;
  assert.equal(planCertificate(now + DAY, next, HOSTS, TIMES, undefined).kind, 'keep', 'nobody trusts the next one yet');
  assert.equal(planCertificate(now + 30_000, next, HOSTS, TIMES, now).kind, 'keep', 'API servers may not have seen it yet');
  const promoted = written(planCertificate(now + 60_000, next, HOSTS, TIMES, now), 'promoted');
  assert.deepEqual([promoted['tls.crt'], promoted['tls.key'], promoted['ca.crt']], [next['next.crt'], next['next.key'], next['ca.crt']]);
  assert.equal(promoted['next.crt'], undefined);

  // The next step removes the first authority.
  const again = written(planCertificate(now + 61 * DAY, promoted, HOSTS, TIMES, now), 'next');
  assert.equal(certificatesIn(again['ca.crt']).length, 2);
  assert.ok(!trusted(again['ca.crt'], first['tls.crt']) && trusted(again['ca.crt'], promoted['tls.crt']));
});

test('an unpublished certificate takes over before the present one expires', () => {
  const first = written(planCertificate(START, undefined, HOSTS, TIMES, undefined), 'first');
  const next = written(planCertificate(START + 60 * DAY, first, HOSTS, TIMES, undefined), 'next');
  const waits = planCertificate(START + 61 * DAY, next, HOSTS, TIMES, undefined);
  assert.ok(waits.kind === 'keep' && waits.until === START + 75 * DAY);
  written(planCertificate(waits.until, next, HOSTS, TIMES, undefined), 'promoted');
});

test('an expired or damaged certificate, one for other hosts or of another authority is replaced, and what replicas still serve stays trusted', () => {
  const first = written(planCertificate(START, undefined, HOSTS, TIMES, undefined), 'first');
  const other = written(planCertificate(START, undefined, HOSTS, TIMES, undefined), 'first');
  const cases: Readonly<Record<string, Partial<CertificateData>>> = {
    torn: { ...first, 'tls.crt': 'nonsense' },
    'without key': { 'ca.crt': first['ca.crt'], 'tls.crt': first['tls.crt'] },
    'another key': { ...first, 'tls.key': other['tls.key'] },
    'another authority': { ...first, 'ca.crt': other['ca.crt'] },
    empty: {},
  };
  for (const [name, data] of Object.entries(cases)) {
    const made = written(planCertificate(START + DAY, data, HOSTS, TIMES, undefined), 'unfit');
    assert.ok(trusted(made['ca.crt'], made['tls.crt']), name);
    assert.equal(planCertificate(START + DAY, made, HOSTS, TIMES, undefined).kind, 'keep', name);
  }
  const moved = written(planCertificate(START + DAY, first, ['elsewhere.svc', '10.0.0.1'], TIMES, undefined), 'unfit');
  assert.ok(trusted(moved['ca.crt'], first['tls.crt']), 'a replica that is not renewed yet');
  written(planCertificate(START + 91 * DAY, first, HOSTS, TIMES, undefined), 'unfit');
});

test('one that has not begun is replaced: it was made by a clock that was ahead; a few minutes are none', () => {
  const ahead = written(planCertificate(START + 3_600_000, undefined, HOSTS, TIMES, undefined), 'first');
  assert.equal(planCertificate(START + 3_600_000 - 240_000, ahead, HOSTS, TIMES, START).kind, 'keep');
  const made = written(planCertificate(START, ahead, HOSTS, TIMES, START), 'unfit');
  assert.equal(planCertificate(START, made, HOSTS, TIMES, START).kind, 'keep');
  assert.ok(trusted(made['ca.crt'], ahead['tls.crt']), 'a replica that still serves it');
});

test('text that a user writes between the authorities is removed, whether it can be parsed or not', () => {
  const first = written(planCertificate(START, undefined, HOSTS, TIMES, undefined), 'first');
  const junk = '-----BEGIN CERTIFICATE-----\nbm9uc2Vuc2U=\n-----END CERTIFICATE-----\n';
  for (const bundle of [
    `${first['ca.crt']}${junk}`,
    `${junk}${first['ca.crt']}`,
    `${first['ca.crt']}${first['tls.crt']}`,
    `words\n${first['ca.crt']}`,
  ]) {
    const mended = written(planCertificate(START + DAY, { ...first, 'ca.crt': bundle }, HOSTS, TIMES, START), 'unfit');
    assert.deepEqual(mended, first, 'the same certificate, without a word of theirs');
  }
  const torn = written(planCertificate(START + DAY, { ...first, 'ca.crt': junk, 'tls.crt': 'nonsense' }, HOSTS, TIMES, START), 'unfit');
  assert.equal(certificatesIn(torn['ca.crt']).length, 1);
});
