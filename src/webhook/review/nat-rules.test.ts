import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';
import type { ResourceName } from '../../world/resources.ts';
import type { ReviewedObject } from '../protocol/admission-review.ts';
import { admissionRequest } from '../testing/admission-request.ts';
import { validateRequest } from './validate-request.ts';

function reviewed(
  { bench }: NatScene,
  resource: ResourceName,
  name: string,
  spec: object,
  before?: object,
): ReturnType<typeof validateRequest> {
  const request = {
    ...admissionRequest(before === undefined ? 'CREATE' : 'UPDATE', resource, { metadata: { name }, spec }),
    oldObject: (before === undefined ? undefined : { metadata: { name }, spec: before }) as ReviewedObject | undefined,
  };
  const observed = { world: bench.world, complete: true, checkRequest: () => undefined };
  return validateRequest(request, observed, () => undefined);
}

function denied(...request: Parameters<typeof reviewed>): readonly string[] {
  return reviewed(...request).denials.map(({ code, message }) => `${code}: ${message}`);
}

test('a second address outside for one address inside is a warning: OVN takes either for what that sends', () => {
  const scene = new NatScene();
  for (const name of ['e1', 'e2', 'e3']) scene.eip(name);
  const target = { vpc: 'blue', v4Ip: '10.5.0.9' };
  scene.put('ovn-fips', 'f1', { ovnEip: 'e1', ...target });
  const second = { ovnEip: 'e2', ...target };
  assert.deepEqual(reviewed(scene, 'ovn-fips', 'f2', second), {
    denials: [],
    warnings: ['OvnFip f2: OvnFip f1 has the same address inside: for what that address sends OVN takes either external address'],
  });
  assert.deepEqual(reviewed(scene, 'ovn-fips', 'f2', { ...second, v4Ip: '10.5.0.10' }).warnings, []);
  scene.put('ovn-fips', 'f2', second);
  assert.deepEqual(reviewed(scene, 'ovn-fips', 'f2', { ...second, ovnEip: 'e3' }, second).warnings, [], 'as before');
});

test('a NAT rule that translates what another one translates is denied, at its creation and by an edit', () => {
  const scene = new NatScene();
  scene.eip('e1');
  scene.eip('e2');
  const dnat = { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9', protocol: 'tcp', externalPort: '80', internalPort: '80' };
  scene.put('ovn-dnat-rules', 'd1', dnat);
  scene.put('ovn-fips', 'f1', { ovnEip: 'e2', vpc: 'blue', v4Ip: '10.5.0.9' });
  const of = (name: string, spec: object, before?: object): readonly string[] => denied(scene, 'ovn-dnat-rules', name, spec, before);
  assert.match(
    of('d2', dnat).join(),
    /^NatConflict: OvnDnatRule d2: OvnDnatRule d1 translates the same; change or delete that one first, .*kubectl describe ovn-dnat-rules\.kubeovn\.io d1$/,
  );
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

test('nothing is added to the address of a distributed OvnFip, and no OvnFip becomes distributed beside another rule; a pod gives way', () => {
  const scene = new NatScene();
  for (const name of ['e1', 'e2', 'e3']) scene.eip(name);
  const fip = { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9', type: 'distributed' };
  const dnat = { vpc: 'blue', v4Ip: '10.5.0.9', protocol: 'tcp', externalPort: '80', internalPort: '80' };
  scene.put('ovn-fips', 'f1', fip);
  scene.put('ovn-dnat-rules', 'd1', { ...dnat, ovnEip: 'e2' });
  scene.put('ovn-fips', 'f2', { ...fip, ovnEip: 'e2', type: 'centralized' });
  assert.match(denied(scene, 'ovn-dnat-rules', 'd2', { ...dnat, ovnEip: 'e1' }).join(), /^NatConflict: OvnDnatRule d2: OvnFip f1/);
  assert.match(denied(scene, 'ovn-snat-rules', 's1', { ovnEip: 'e1', vpc: 'blue', v4IpCidr: '10.5.0.0/24' }).join(), /OvnFip f1/);
  const centralized = { ...fip, ovnEip: 'e2', type: 'centralized' };
  assert.match(denied(scene, 'ovn-fips', 'f2', { ...centralized, type: 'distributed' }, centralized).join(), /OvnDnatRule d1/);
  assert.deepEqual(denied(scene, 'ovn-fips', 'f1', { ...fip, ovnEip: 'e3' }, fip), []);
  assert.deepEqual(denied(scene, 'ovn-fips', 'f1', { ...fip, v4Ip: '10.5.0.10' }, fip), []);
});

test('the deletion of a Vip that a rule translates to is allowed with a warning that names the rule, or denied', () => {
  const scene = new NatScene();
  scene.eip('e1');
  scene.put('vips', 'v1', { subnet: 'inside' });
  const removal = admissionRequest('DELETE', 'vips', scene.bench.object('vips', 'v1') ?? {});
  const observed = { world: scene.bench.world, complete: true, checkRequest: () => undefined };
  assert.deepEqual(
    validateRequest(removal, observed, () => undefined),
    { denials: [], warnings: [] },
  );
  scene.put('ovn-fips', 'f1', { ovnEip: 'e1', ipType: 'vip', ipName: 'v1' });
  const { warnings } = validateRequest(removal, observed, () => undefined, { inUse: 'wait', recentlyDenied: () => false });
  assert.match(warnings.join(), /^Vip v1 is in use: .*: OvnFip f1$/);
});

test('an edit of a rule that translates: a field made empty is denied, and an unknown target is a warning', () => {
  const scene = new NatScene();
  scene.eip('e1');
  const dnat = { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9', protocol: 'tcp', externalPort: '80', internalPort: '80' };
  scene.put('ovn-dnat-rules', 'd1', dnat);
  const of = (edit: object): ReturnType<typeof validateRequest> => reviewed(scene, 'ovn-dnat-rules', 'd1', { ...dnat, ...edit }, dnat);
  assert.match(of({ protocol: '' }).denials[0]?.message ?? '', /spec\.protocol/);
  const { denials, warnings } = of({ vpc: '', v4Ip: '', ipName: 'typo.a' });
  assert.deepEqual(denials, []);
  assert.match(
    warnings.join(),
    /^OvnDnatRule d1: spec\.ipName "typo\.a" names no IP .*\. Until then router blue translates as before the edit: /,
  );
  assert.match(
    of({ ovnEip: 'later' }).warnings.join(),
    /"later" names no OvnEip.* as before the edit: tcp port 80 of \S+ to port 80 of 10\.5\.0\.9/,
  );
  assert.deepEqual(of({ internalPort: '81' }), { denials: [], warnings: [] });
});

test('an edit of a Vpc that takes away an external port which NAT rules use is allowed, with a warning that names them', () => {
  const scene = new NatScene();
  const on = { enableExternal: true };
  const warned = (spec: object, before: object): string => reviewed(scene, 'vpcs', 'blue', spec, before).warnings.join();
  assert.equal(warned({ enableExternal: false }, on), '', 'no rule uses it');
  for (let at = 0; at < 7; at++) {
    scene.eip(`e${at}`);
    scene.put('ovn-fips', `f${at}`, { ovnEip: `e${at}`, vpc: 'blue', v4Ip: `10.5.0.1${at}` });
  }
  assert.match(
    warned({ enableExternal: false }, on),
    /^Vpc blue: its router loses its port in Subnet external, where 7 NAT rules translate: OvnFip f0, .*, OvnFip f4 and 2 more; what they translate stops/,
  );
  assert.equal(warned({ ...on, extraExternalSubnets: ['elsewhere'] }, on), '', 'the router keeps the port that it has');
  const listed = { ...on, extraExternalSubnets: ['external'] };
  scene.bench.edit('vpcs', 'blue', listed);
  scene.bench.converge();
  assert.match(warned({ ...on, extraExternalSubnets: ['elsewhere'] }, listed), /loses its port in Subnet external/);
  assert.equal(warned({ ...on, extraExternalSubnets: ['external'] }, on), '');
  assert.equal(warned(on, { enableExternal: false }), '');
});
