import assert from 'node:assert/strict';
import { test } from 'node:test';
import { iptablesEipKind } from '../../api/kinds/iptables-eip.ts';
import { ipKind } from '../../api/kinds/ip.ts';
import { ipPoolKind } from '../../api/kinds/ip-pool.ts';
import { dnsNameResolverKind } from '../../api/kinds/dns-name-resolver.ts';
import { ovnEipKind } from '../../api/kinds/ovn-eip.ts';
import { ovnFipKind } from '../../api/kinds/ovn-fip.ts';
import type { SchemaNode } from '../../api/schema/schema.ts';
import { subnetKind } from '../../api/kinds/subnet.ts';
import { vipKind } from '../../api/kinds/vip.ts';
import { vpcEgressGatewayKind } from '../../api/kinds/vpc-egress-gateway.ts';
import { vpcKind } from '../../api/kinds/vpc.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import { parseReview } from '../protocol/admission-review.ts';
import { validateRequest } from './validate-request.ts';
import type { AdmissionResult } from '../protocol/admission-result.ts';
import { admission } from '../../kinds/pod/admission.ts';

const scene = new PodScene();
scene.bench.put('vpcs', { metadata: { name: 'blue' } });
scene.subnet('net', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
scene.bench.converge();
const observed = { world: scene.bench.world, complete: true, checkRequest: () => undefined };

function validated(resource: ResourceName, object: object, oldObject?: object): AdmissionResult {
  const { group, version, plural, kind } = traitsOf(resource);
  const request = { uid: 'u', operation: oldObject === undefined ? 'CREATE' : 'UPDATE', kind: { kind }, name: 'x', namespace: 'shop' };
  const about = { ...request, resource: { group, version, resource: plural }, object, oldObject };
  const parsed = parseReview(Buffer.from(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: about })));
  assert.ok(parsed.ok);
  return validateRequest(parsed.request, observed, () => undefined);
}

type Path = readonly (string | number)[];

/** Every position of a schema, through lists and maps. */
function* placesIn({ properties = {}, items, additionalProperties }: SchemaNode, at: Path = []): Iterable<Path> {
  yield at;
  for (const [name, node] of Object.entries(properties)) yield* placesIn(node, [...at, name]);
  if (items !== undefined) yield* placesIn(items, [...at, 0]);
  if (additionalProperties !== undefined) yield* placesIn(additionalProperties, [...at, 'key']);
}

function put(at: Path, value: unknown): unknown {
  return at.reduceRight<unknown>((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value);
}

const WRONG = [[], {}, 5, null, true, 'x', [5], [[]], [null], { a: null }, { a: 5 }];
const BASE: Partial<Record<ResourceName, object>> = {
  subnets: { cidrBlock: '10.9.0.0/24', vpc: 'blue' },
  ippools: { subnet: 'net', ips: ['10.1.0.5'] },
  vips: { subnet: 'net' },
};
const KINDS: Partial<Record<ResourceName, SchemaNode>> = {
  subnets: subnetKind.spec.node,
  vpcs: vpcKind.spec.node,
  ips: ipKind.spec.node,
  ippools: ipPoolKind.spec.node,
  vips: vipKind.spec.node,
  'ovn-eips': ovnEipKind.spec.node,
  'ovn-fips': ovnFipKind.spec.node,
  'iptables-eips': iptablesEipKind.spec.node,
  'vpc-egress-gateways': vpcEgressGatewayKind.spec.node,
  dnsnameresolvers: dnsNameResolverKind.spec.node,
  pods: admission.types.spec.node,
};

test('validation never throws, for any value of any field of a spec', () => {
  let tried = 0;
  for (const [resource, node] of Object.entries(KINDS) as [ResourceName, SchemaNode][])
    for (const path of placesIn(node))
      for (const value of WRONG) {
        const before = { metadata: { name: 'x', namespace: 'shop' }, spec: BASE[resource] ?? {} };
        const given = put(path, value);
        const isRecord = path.length > 0 && typeof path[0] === 'string';
        const wrong = { ...before, spec: isRecord ? { ...before.spec, ...(given as object) } : given };
        const where = `${resource} ${path.join('.')} = ${JSON.stringify(value)}`;
        assert.doesNotThrow(() => validated(resource, wrong), where);
        assert.doesNotThrow(() => validated(resource, wrong, before), where);
        assert.doesNotThrow(() => validated(resource, before, wrong), where);
        tried++;
      }
  assert.ok(tried > 2_000, `${tried} were tried`);
});

test('validation never throws, for any metadata or status', () => {
  for (const resource of [...Object.keys(KINDS)] as ResourceName[])
    for (const value of WRONG)
      for (const part of [
        'annotations',
        'labels',
        'finalizers',
        'ownerReferences',
        'deletionTimestamp',
        'uid',
        'name',
        'namespace',
        'status',
      ]) {
        const before = { metadata: { name: 'x', namespace: 'shop' }, spec: BASE[resource] ?? {} };
        const wrong = part === 'status' ? { ...before, status: value } : { ...before, metadata: { ...before.metadata, [part]: value } };
        assert.doesNotThrow(() => validated(resource, wrong), `${resource} ${part} = ${JSON.stringify(value)}`);
        assert.doesNotThrow(() => validated(resource, wrong, before), `${resource} ${part} = ${JSON.stringify(value)}`);
      }
});

test('an object with wrong types is allowed: the API server rejects it; a member that is null is absent', () => {
  const metadata = { name: 'x' };
  assert.deepEqual(validated('subnets', { metadata, spec: { cidrBlock: [], gateway: 'nonsense' } }), { denials: [], warnings: [] });
  const codes = (spec: object): readonly string[] => validated('subnets', { metadata, spec }).denials.map(({ code }) => code);
  assert.deepEqual(
    codes({ cidrBlock: '10.9.0.0/24', gateway: 'nonsense', acls: null }),
    codes({ cidrBlock: '10.9.0.0/24', gateway: 'nonsense' }),
  );
  assert.notDeepEqual(codes({ cidrBlock: '10.9.0.0/24', gateway: 'nonsense', acls: null }), []);
});
