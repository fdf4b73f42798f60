import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';
import type { ResourceName } from '../../world/resources.ts';
import type { ReviewedObject } from '../protocol/admission-review.ts';
import { admissionRequest } from '../testing/admission-request.ts';
import { validateRequest } from './validate-request.ts';

function denied({ bench }: NatScene, resource: ResourceName, name: string, spec: object, before?: object): readonly string[] {
  const request = {
    ...admissionRequest(before === undefined ? 'CREATE' : 'UPDATE', resource, { metadata: { name }, spec }),
    oldObject: (before === undefined ? undefined : { metadata: { name }, spec: before }) as ReviewedObject | undefined,
  };
  const observed = { world: bench.world, complete: true, checkRequest: () => undefined };
  return validateRequest(request, observed, () => undefined).denials.map(({ code, message }) => `${code}: ${message}`);
}

test('a NAT rule that translates what another one translates is denied, at its creation and by an edit', () => {
  const scene = new NatScene();
  scene.eip('e1');
  scene.eip('e2');
  const dnat = { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9', protocol: 'tcp', externalPort: '80', internalPort: '80' };
  scene.put('ovn-dnat-rules', 'd1', dnat);
  scene.put('ovn-fips', 'f1', { ovnEip: 'e2', vpc: 'blue', v4Ip: '10.5.0.9' });
  const of = (name: string, spec: object, before?: object): readonly string[] => denied(scene, 'ovn-dnat-rules', name, spec, before);
  assert.match(of('d2', dnat).join(), /^NatConflict: OvnDnatRule d2: OvnDnatRule d1 translates the same/);
  assert.deepEqual(of('d2', { ...dnat, protocol: 'UDP' }), []);
  assert.match(of('d2', { ...dnat, protocol: 'TCP' }, { ...dnat, externalPort: '81' }).join(), /^NatConflict/);
  assert.deepEqual(of('d1', { ...dnat, internalPort: '8080' }, dnat), [], 'its own claim');
  assert.match(
    denied(scene, 'ovn-fips', 'f2', { ovnEip: 'e2', vpc: 'blue', v4Ip: '10.5.0.10' }).join(),
    /^NatConflict: OvnFip f2: OvnFip f1/,
  );
});

test('a NAT rule with a wrong value is denied; one that waits for another object, or is not complete, is not', () => {
  const scene = new NatScene();
  scene.eip('e1');
  const dnat = { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9', protocol: 'tcp', externalPort: '80', internalPort: '80' };
  const of = (spec: object, before?: object): string => denied(scene, 'ovn-dnat-rules', 'd1', { ...dnat, ...spec }, before).join();
  assert.match(of({ protocol: 'icmp' }), /^NatRuleInvalid: OvnDnatRule d1: spec\.protocol "icmp" is not known/);
  assert.match(of({ externalPort: '0' }), /^NatRuleInvalid/);
  assert.match(of({ v4Ip: '10.5.0.x' }), /^NatRuleInvalid/);
  assert.deepEqual([of({ ovnEip: 'later' }), of({ vpc: '', v4Ip: '', ipName: 'web.shop' }), of({ protocol: '' })], ['', '', '']);
  assert.equal(of({ protocol: 'icmp', ovnEip: 'e2' }, { ...dnat, protocol: 'icmp' }), '', 'it was wrong before');
});
