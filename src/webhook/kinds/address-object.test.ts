import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta } from '../../api/kubernetes/meta.ts';
import type { OvnEip } from '../../api/kinds/ovn-eip.ts';
import type { IptablesEIP } from '../../api/kinds/iptables-eip.ts';
import type { Vip } from '../../api/kinds/vip.ts';
import { FINALIZER } from '../../api/well-known.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import {
  validateIptablesEipUpdate,
  validateIptablesEipCreate,
  validateOvnEipUpdate,
  validateOvnEipCreate,
  validateVipUpdate,
  validateVipCreate,
} from './address-object.ts';
import type { Observed } from '../protocol/admission-result.ts';

function observed(scene: PodScene): Observed {
  return { world: scene.bench.world, complete: true, checkRequest: (request) => scene.bench.allocation.check(request) };
}

function vip(spec: Vip['spec'], annotations: Readonly<Record<string, string>> = {}): Vip {
  const metadata = { name: 'v', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', annotations };
  return { apiVersion: 'kubeovn.io/v1', kind: 'Vip', metadata, spec };
}

function eip(spec: OvnEip['spec'], status?: OvnEip['status']): OvnEip {
  const { metadata } = vip({});
  return { apiVersion: 'kubeovn.io/v1', kind: 'OvnEip', metadata, spec, ...(status !== undefined && { status }) };
}

test('the webhook denies a new Vip with the message of the rules; a missing Subnet is no fault', () => {
  const scene = new PodScene();
  scene.subnet('net', { cidrBlock: '10.70.0.0/24' });
  scene.bench.put('ovn-eips', { metadata: { name: 'e1' }, spec: { externalSubnet: 'net', v4Ip: '10.70.0.9' } });
  scene.bench.converge();
  const messageFor = (spec: Vip['spec'], annotations = {}): string =>
    validateVipCreate(vip(spec, annotations), observed(scene))
      .denials.map(({ message }) => message)
      .join('\n');
  assert.match(messageFor({ subnet: 'net', v4ip: 'x' }), /^Vip v: spec\.v4ip "x"/);
  assert.match(messageFor({ subnet: 'net', type: 'lb' }), /spec\.type "lb" is not known/);
  assert.match(messageFor({ subnet: 'net', v4ip: '10.71.0.1' }), /10\.71\.0\.1 cannot be allocated in Subnet "net"/);
  assert.match(messageFor({ subnet: 'net', v4ip: '10.70.0.9' }), /10\.70\.0\.9 in Subnet "net" is held by OvnEip e1/);
  assert.match(messageFor({ subnet: 'net' }, { 'kiln.io/lease': 'soon' }), /"soon" is not a duration/);
  assert.equal(messageFor({ subnet: 'net', v4ip: '10.70.0.10' }, { 'kiln.io/lease': '1h' }), '');
  assert.match(
    validateVipCreate(vip({ subnet: 'nowhere' }), observed(scene)).warnings.join(),
    /"nowhere" does not exist yet; the object waits for it/,
  );
  scene.bench.delete('subnets', 'net');
  scene.bench.converge();
  assert.match(messageFor({ subnet: 'net' }), /Subnet net is being deleted/);
});

/** The object as Kube-OVN leaves it. */
function settled<T extends { readonly metadata: ObjectMeta }>(object: T): T {
  return { ...object, metadata: { ...object.metadata, finalizers: [FINALIZER] } };
}

test('what it has does not change; everything else does', () => {
  const scene = new PodScene();
  const has = settled(eip({ externalSubnet: 'net', v4Ip: '10.70.0.9', type: 'nat' }, { v4Ip: '10.70.0.9', type: 'nat' }));
  const changed = (spec: OvnEip['spec']): string =>
    validateOvnEipUpdate(has, { ...has, spec: { ...has.spec, ...spec } }, observed(scene))
      .denials.map(({ message }) => message)
      .join('\n');
  assert.match(changed({ v4Ip: '10.70.0.8' }), /OvnEip v: spec requests "10\.70\.0\.8" \(it has 10\.70\.0\.9\)/);
  assert.match(changed({ type: 'lsp' }), /"lsp" \(it has nat\)/);
  assert.equal(changed({ v4Ip: '' }), '');
  const home = vip({ subnet: 'net' });
  const given = {
    ...home,
    metadata: { ...home.metadata, finalizers: [FINALIZER], labels: { 'ovn.kubernetes.io/subnet': 'net' } },
    status: { v4ip: '10.70.0.9' },
  };
  const moved = validateVipUpdate(given, { ...given, spec: { ...given.spec, subnet: 'other' } }, observed(scene)).denials;
  assert.match(moved.map(({ message }) => message).join(), /^Vip v: spec requests "other" \(it has net\)/);
  assert.deepEqual(validateVipUpdate(vip({ subnet: 'net' }), vip({ subnet: 'net', namespace: 'shop' }), observed(scene)).denials, []);
  assert.equal(validateOvnEipCreate(eip({ v6Ip: 'FD00::1' }), observed(scene)).denials[0]?.code, 'OvnEipAddressInvalid');
});

test('the webhook denies an IptablesEIP outside of its Subnet, in use, of IPv6, or of a Subnet that is being deleted; a missing Subnet is no fault', () => {
  const scene = new PodScene();
  scene.subnet('net', { cidrBlock: '10.70.0.0/24' });
  scene.bench.put('vips', { metadata: { name: 'v1' }, spec: { subnet: 'net', v4ip: '10.70.0.9' } });
  scene.bench.converge();
  const of = (spec: IptablesEIP['spec'], status?: IptablesEIP['status']): IptablesEIP => {
    const { metadata } = vip({});
    return {
      apiVersion: 'kubeovn.io/v1',
      kind: 'IptablesEIP',
      metadata,
      spec: { externalSubnet: 'net', ...spec },
      ...(status && { status }),
    };
  };
  const messageFor = (spec: IptablesEIP['spec']): string =>
    validateIptablesEipCreate(of(spec), observed(scene))
      .denials.map(({ message }) => message)
      .join('\n');
  assert.equal(messageFor({ v4ip: '10.70.0.10' }), '');
  assert.match(messageFor({ v4ip: '10.71.0.1' }), /10\.71\.0\.1 cannot be allocated in Subnet "net"/);
  assert.match(messageFor({ v4ip: '10.70.0.9' }), /10\.70\.0\.9 in Subnet "net" is held by Vip v1/);
  assert.match(messageFor({ v6ip: 'fd00::1' }), /spec\.v6ip "fd00::1" cannot be given/);
  const early = validateIptablesEipCreate(of({ externalSubnet: 'later' }), observed(scene));
  assert.deepEqual([early.denials, early.warnings.length], [[], 1]);
  const has = settled(of({ v4ip: '10.70.0.20' }, { ip: '10.70.0.20', ready: true }));
  assert.equal(validateIptablesEipUpdate(has, { ...has, spec: { ...has.spec, v4ip: '10.70.0.21' } }, observed(scene)).denials.length, 1);
  scene.bench.delete('subnets', 'net');
  scene.bench.converge();
  assert.match(messageFor({}), /Subnet net is being deleted/);
});
