import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';
import { World } from '../../world/world.ts';
import type { AdmissionRequest } from '../protocol/admission-review.ts';
import { answerText } from '../protocol/admission-review.ts';
import type { DeletionInUse } from '../kinds/deletion.ts';
import { validateRequest } from './validate-request.ts';
import type { Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { admissionRequest } from '../testing/admission-request.ts';
import { redactedResult } from './redacted-result.ts';

/** The answer to the API server, and the answer to a client without a proven identity. */
function results(
  scene: PodScene,
  reviewed: AdmissionRequest,
  inUse: DeletionInUse = 'deny',
): { readonly known: AdmissionResult; readonly unknown: AdmissionResult } {
  const { bench } = scene;
  const observed: Observed = { world: bench.world, complete: true, checkRequest: (request) => bench.allocation.check(request) };
  const deletions = { inUse, recentlyDenied: () => false };
  const known = validateRequest(reviewed, observed, () => undefined, deletions);
  const alone = validateRequest(
    reviewed,
    { world: new World(bench.world.settings), complete: false, checkRequest: () => undefined },
    () => undefined,
    deletions,
  );
  return { known, unknown: redactedResult(reviewed, known, alone) };
}

/** Every name and address of the other tenant matches this. */
const SECRETS = /secret|10\.77\./;

function tenant(): { readonly scene: PodScene; readonly held: string } {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'shop' } });
  scene.subnet('web', { vpc: 'shop', cidrBlock: '10.77.0.0/24', namespaces: ['secret-space'] });
  scene.subnet('secret-net', { vpc: 'shop', cidrBlock: '10.77.1.0/24' });
  scene.pod('secret-pod', { namespace: 'secret-space', annotations: { 'ovn.kubernetes.io/logical_switch': 'web' } });
  scene.bench.converge();
  return { scene, held: '10.77.0.2' };
}

const pod = (annotations: object): object => ({ metadata: { name: 'mine', namespace: 'mine', uid: 'm', annotations }, spec: {} });

test('a client without a certificate gets the same denials as the API server, without names and addresses of other tenants', () => {
  const { scene, held } = tenant();
  const reviewed: Readonly<Record<string, AdmissionRequest>> = {
    'a Vpc in use': admissionRequest('DELETE', 'vpcs', { metadata: { name: 'shop' } }),
    'a Subnet in use': admissionRequest('DELETE', 'subnets', { metadata: { name: 'web' } }),
    'a network that overlaps': admissionRequest('CREATE', 'subnets', {
      metadata: { name: 'wide' },
      spec: { vpc: 'shop', cidrBlock: '10.0.0.0/8' },
    }),
    'an address that is held': admissionRequest(
      'CREATE',
      'pods',
      pod({ 'ovn.kubernetes.io/logical_switch': 'web', 'ovn.kubernetes.io/ip_address': held }),
    ),
    'an address of an IP object': admissionRequest('CREATE', 'ips', {
      metadata: { name: 'mine.mine' },
      spec: { subnet: 'web', podName: 'mine', namespace: 'mine', ipAddress: held },
    }),
    'an address outside': admissionRequest(
      'CREATE',
      'pods',
      pod({ 'ovn.kubernetes.io/logical_switch': 'web', 'ovn.kubernetes.io/ip_address': '10.9.9.9' }),
    ),
    'a Vip': admissionRequest('CREATE', 'vips', { metadata: { name: 'mine' }, spec: { subnet: 'web', v4ip: held } }),
    'a pool': admissionRequest('CREATE', 'ippools', { metadata: { name: 'mine' }, spec: { subnet: 'web', ips: ['10.9.9.9'] } }),
  };
  let withNames = 0;
  for (const [what, one] of Object.entries(reviewed)) {
    const { known, unknown } = results(scene, one);
    assert.ok(known.denials.length > 0, what);
    assert.equal(unknown.denials.length > 0, true, what);
    assert.deepEqual([...new Set(unknown.denials.map(({ code }) => code))], [...new Set(known.denials.map(({ code }) => code))], what);
    // The requested address may appear in the answer, since the client sent it.
    const shown = answerText(one, unknown).replaceAll(held, '');
    assert.doesNotMatch(shown, SECRETS, what);
    if (SECRETS.test(answerText(one, known).replaceAll(held, ''))) withNames++;
  }
  assert.ok(withNames >= 4, `the API server gets names and addresses in ${withNames} of them`);
});

test('faults of a request itself have the same message for every client', () => {
  const { scene } = tenant();
  for (const one of [
    admissionRequest('CREATE', 'subnets', { metadata: { name: 'odd' }, spec: { cidrBlock: '10.2.0.0/33' } }),
    admissionRequest('CREATE', 'subnets', { metadata: { name: 'odd' }, spec: { cidrBlock: '10.2.0.0/24', gateway: '10.3.0.1' } }),
    admissionRequest('CREATE', 'pods', pod({ 'ovn.kubernetes.io/ip_address': 'ten' })),
  ]) {
    const { known, unknown } = results(scene, one);
    assert.ok(known.denials.length > 0);
    assert.deepEqual(unknown.denials, known.denials);
  }
});

test('a denied deletion names the command that shows the rest to a user with the rights, and none where the name could be a command', () => {
  const { scene } = tenant();
  const [blocked] = results(scene, admissionRequest('DELETE', 'vpcs', { metadata: { name: 'shop' } })).unknown.denials;
  assert.match(blocked?.message ?? '', /^Vpc shop cannot be deleted: other objects still use it; kiln explain vpc shop shows what \(/);
  const waits = results(scene, admissionRequest('DELETE', 'vpcs', { metadata: { name: 'shop' } }), 'wait').unknown;
  assert.deepEqual([waits.denials, waits.warnings.length], [[], 1]);
  assert.match(waits.warnings[0] ?? '', /^Vpc shop is deleted later: other objects still use it; kiln explain vpc shop shows what \(/);
  const reviewed = { ...admissionRequest('DELETE', 'vpcs', { metadata: { name: 'shop' } }), name: 'x; touch y' };
  const shown = redactedResult(
    reviewed,
    { denials: [{ code: 'DeletionBlocked', field: '', message: 'm', kind: 'forbidden' }], warnings: ['Vpc secret is not there'] },
    { denials: [], warnings: [] },
  );
  assert.doesNotMatch(JSON.stringify(shown), /kiln explain|secret/);
});
