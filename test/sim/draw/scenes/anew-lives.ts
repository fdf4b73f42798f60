/**
 * Scenes of lives in a rush about who comes anew: the next pod of a StatefulSet, whose template asks for another address by now or whose Subnet is to go, a pod whose first Subnet is full and whose
 * second one has no switch, an IP object from a backup, and several that hold a Subnet.
 */
import { kilnAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { IPS, PODS, podSpec, STATEFUL_SETS, SUBNETS, VIPS } from '../operations.ts';
import { doing } from './incidents.ts';
import { on } from './overlooked-addresses.ts';
import type { Random } from '../random.ts';
import { create, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { RowChange, Step } from '../../steps/step.ts';

const SCENES = { listed: 3, going: 3, second: 3, left: 2, many: 2 } as const;
const REST: Step = { kind: 'rest' };
const LIST = 'ovn.kubernetes.io/ip_pool';
/** After which everybody has heard of it. */
const HEARD = wait(6_000);

export function drawAnew(random: Random): readonly Step[] {
  switch (random.weighted(SCENES)) {
    case 'listed':
      return listed();
    case 'going':
      return going(random);
    case 'second':
      return second();
    case 'left':
      return left();
    case 'many':
      return many();
  }
}

function set(namespace: string, name: string, annotations: JsonObject = {}): Step {
  const labels = { app: name };
  const template = { metadata: { labels, annotations }, spec: podSpec() };
  const spec = { replicas: 1, serviceName: name, selector: { matchLabels: labels }, template };
  return doing({ do: 'create', path: STATEFUL_SETS, namespace, object: { metadata: { name, namespace }, spec } });
}

function gone(name: string, namespace: string): Step {
  return doing({ do: 'delete', path: PODS, namespace, name, grace: 0 });
}

/** The list that the template has is another one when the pod is made again. */
function listed(): readonly Step[] {
  const namespace = 'anew-listed';
  const asks = (list: string): Step =>
    doing({
      do: 'edit',
      path: STATEFUL_SETS,
      namespace,
      name: 'al',
      patch: { spec: { template: { metadata: { annotations: { [LIST]: list } } } } },
    });
  return [
    ...[create(SUBNETS, 'a0', { cidrBlock: '10.120.0.0/24', namespaces: [namespace] }), inNamespace(namespace), wait(1_500)],
    ...[set(namespace, 'al', { [LIST]: '10.120.0.20;10.120.0.21' }), asks('10.120.0.20;10.120.0.21'), gone('al-0', namespace), wait(2_500)],
    ...[asks('10.120.0.30;10.120.0.31'), gone('al-0', namespace), wait(2_500), REST],
  ];
}

/** The Subnet of a StatefulSet is to go, and its pod is made again. */
function going(random: Random): readonly Step[] {
  const namespace = 'anew-going';
  return [
    ...[create(SUBNETS, 'a1', { cidrBlock: '10.121.0.0/24', namespaces: [namespace] }), inNamespace(namespace), wait(1_500)],
    ...[set(namespace, 'ag'), ...pod(namespace, 'ah'), wait(1_500)],
    ...[doing({ do: 'delete', path: SUBNETS, namespace: '', name: 'a1' }), HEARD, ...(random.chance(0.3) ? [REST] : [])],
    ...[gone('ag-0', namespace), wait(2_500), REST, gone('ah', namespace), wait(1_500)],
  ];
}

/** The first Subnet has one address, and the switch of the second one is another program's. */
function second(): readonly Step[] {
  const namespace = 'anew-second';
  const theirs: RowChange = { kind: 'set', columns: { external_ids: ['map', [['neutron:network_name', 'a3']]] } };
  return [
    ...['ai', 'aj'].map((name) => gone(name, namespace)),
    create(SUBNETS, 'a2', { cidrBlock: '10.122.0.0/29', excludeIps: ['10.122.0.3..10.122.0.6'], namespaces: [namespace] }),
    ...[create(SUBNETS, 'a3', { cidrBlock: '10.123.0.0/24', namespaces: [namespace] }), inNamespace(namespace), wait(1_500)],
    ...[doing({ do: 'row', table: 'Logical_Switch', place: 0, name: 'a3', change: theirs }), ...pod(namespace, 'ai'), HEARD],
    ...[...pod(namespace, 'aj'), wait(1_500), REST],
    ...[gone('aj', namespace), vanish(SUBNETS, 'a3'), wait(500)],
    // Nothing of it is left that others would meet.
    doing({ do: 'row', table: 'Logical_Switch', place: 0, name: 'a3', change: { kind: 'delete' } }),
  ];
}

/** An IP object is written back from a backup with what it said when its address could not be had. */
function left(): readonly Step[] {
  const namespace = 'anew-left';
  const condition = { type: 'Accepted', status: 'False', reason: 'AddressOutOfRange', message: 'from a backup' };
  const annotations = { [kilnAnnotation.conditions]: JSON.stringify([condition]) };
  return [
    ...[inNamespace(namespace), create(SUBNETS, 'a4', { cidrBlock: '10.124.0.0/24' }), wait(1_500)],
    ...[...pod(namespace, 'ak', on('a4')), wait(500)],
    doing({ do: 'edit', path: IPS, namespace: '', name: `ak.${namespace}`, patch: { metadata: { annotations } } }),
    ...[wait(1_500), REST],
  ];
}

/** Objects of two kinds are in a Subnet that is to go. */
function many(): readonly Step[] {
  const namespace = 'anew-many';
  const names = ['am', 'an'];
  const kept = (podName: string): Step => create(IPS, `${podName}.${namespace}`, { subnet: 'a5', podName, namespace, podType: '' });
  return [
    ...[inNamespace(namespace), create(SUBNETS, 'a5', { cidrBlock: '10.126.0.0/24' }), wait(1_500)],
    ...[...names.map(kept), create(VIPS, 'ao', { subnet: 'a5' }), wait(1_500)],
    ...[doing({ do: 'delete', path: SUBNETS, namespace: '', name: 'a5' }), wait(1_500), REST],
    ...[...names.map((name) => vanish(IPS, `${name}.${namespace}`)), vanish(VIPS, 'ao'), wait(500)],
  ];
}
