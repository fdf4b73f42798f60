/**
 * Scenes of `overlooked-lives.ts` about addresses and MACs: those that another would be given, those that are leased and used all the same, and those of a machine
 * that has not moved yet, or whose network goes.
 */
import { derivedMac } from '../../../../src/allocate/ledger-request.ts';
import { routerToSwitchPort } from '../../../../src/api/names.ts';
import { annotationKey, DEFAULT_VPC, kilnAnnotation, MIGRATION_JOB_LABEL, podAnnotation } from '../../../../src/api/well-known.ts';
import { derivedMac as macOfRow } from '../../../../src/compile/row-mac.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { rowId } from '../../../../src/nb/row-id.ts';
import { INSTANCES, IPS, MACHINES, PODS, podSpec, SUBNETS, VIPS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { create, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Step } from '../../steps/step.ts';

export const NAMESPACE = 'overlooked';
const FIPS = 'kubeovn.io/v1/ovn-fips';
const REST: Step = { kind: 'rest' };

export function on(subnet: string, more: JsonObject = {}): JsonObject {
  return { [podAnnotation('ovn', 'logical_switch')]: subnet, ...more };
}

export function gone(name: string, namespace = NAMESPACE): Step {
  return doing({ do: 'delete', path: PODS, namespace, name, grace: 0 });
}

/** Vips with a lease that something uses: a type, a pod that may have the address beside its own, a rule. And a lease that is no duration. */
export function leased(random: Random): readonly Step[] {
  const lease = { annotations: { [kilnAnnotation.lease]: '1h' } };
  const use = random.pick(['type', 'pod', 'rule'] as const);
  const vip = { subnet: 'o8', namespace: NAMESPACE, ...(use === 'type' && { type: 'switch_lb_vip' }) };
  const rule = { ovnEip: 'oeip', ipName: 'ovip', ipType: 'vip' };
  return [
    ...[gone('od'), vanish(VIPS, 'ovip'), vanish(IPS, `oz.${NAMESPACE}`), vanish(FIPS, 'ofip')],
    ...[inNamespace(NAMESPACE), create(SUBNETS, 'o8', { cidrBlock: '10.38.0.0/24' }), wait(1_500)],
    ...[create(VIPS, 'ovip', vip), wait(500)],
    ...(use === 'pod' ? pod(NAMESPACE, 'od', on('o8', { [annotationKey.allowedAddressPairs]: 'ovip' })) : []),
    ...(use === 'rule' ? [create(FIPS, 'ofip', rule)] : []),
    doing({ do: 'edit', path: VIPS, namespace: '', name: 'ovip', patch: { metadata: lease } }),
    create(
      IPS,
      `oz.${NAMESPACE}`,
      { subnet: 'o8', podName: 'oz', namespace: NAMESPACE, podType: '' },
      { annotations: { [kilnAnnotation.lease]: 'soon' } },
    ),
    ...[wait(1_000), REST],
  ];
}

/** Who asks for a MAC that another would be given who asks for none, or for that of the gateway. */
export function macs(random: Random): readonly Step[] {
  const other = `ow.${NAMESPACE}`;
  const gateway = macOfRow(rowId('Logical_Router_Port', routerToSwitchPort(DEFAULT_VPC, 'o6')));
  const mac = random.chance(0.6) ? derivedMac(other, 0) : gateway;
  return [
    ...[gone('oc'), vanish(IPS, `oc.${NAMESPACE}`), gone('ow'), vanish(IPS, other)],
    ...[inNamespace(NAMESPACE), create(SUBNETS, 'o6', { cidrBlock: '10.36.0.0/24' }), wait(1_500)],
    ...[...pod(NAMESPACE, 'oc', on('o6', { [podAnnotation('ovn', 'mac_address')]: mac })), wait(1_000)],
    create(IPS, other, { subnet: 'o6', podName: 'ow', namespace: NAMESPACE, podType: '' }),
    ...[wait(1_000), REST],
  ];
}

/** A machine is about to move, and nobody says yet how that went; or it is stopped, and its network is to go: nothing is kept there for it. */
export function moving(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const name = 'om';
  const instance = cluster.lab.store.get('virtualmachineinstances.kubevirt.io', `${NAMESPACE}/${name}`);
  const made = [MACHINES, INSTANCES].map((path) =>
    doing({ do: 'create', path, namespace: NAMESPACE, object: { metadata: { name, namespace: NAMESPACE }, spec: {} } }),
  );
  if (instance === undefined) return [inNamespace(NAMESPACE), ...made];
  const migrationUid = `0001-${random.below(1_000)}`;
  const ownerReferences = [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name, uid: instance.metadata.uid }];
  const launcher = (pod: string, nodeName: string, metadata: { readonly annotations?: JsonObject; readonly labels?: JsonObject }): Step =>
    doing({
      do: 'create',
      path: PODS,
      namespace: NAMESPACE,
      object: {
        metadata: { name: pod, namespace: NAMESPACE, ownerReferences, ...metadata, annotations: on('o7', metadata.annotations) },
        spec: { ...podSpec(), nodeName, restartPolicy: 'Never' },
      },
    });
  const target = { annotations: { [annotationKey.migrationJob]: 'job' }, labels: { [MIGRATION_JOB_LABEL]: migrationUid } };
  const isStopped = random.chance(0.4);
  const state = random.pick<JsonObject>([
    { migrationUid: 'other', completed: true, failed: null },
    { migrationUid, completed: true, failed: true },
  ]);
  return [
    ...[gone('om-0'), gone('om-1'), create(SUBNETS, 'o7', { cidrBlock: '10.37.0.0/24' }), wait(1_500)],
    doing({ do: 'edit', path: INSTANCES, namespace: NAMESPACE, name, patch: { status: { migrationState: state } } }),
    ...[launcher('om-0', 'n0', {}), wait(1_500)],
    ...(isStopped
      ? [gone('om-0'), wait(1_000), REST, doing({ do: 'delete', path: SUBNETS, namespace: '', name: 'o7' }), wait(1_500)]
      : [launcher('om-1', 'n1', target), wait(1_500)]),
    REST,
  ];
}
