/**
 * The fields of a pod that its network depends on. Kubelets write a pod's status often; rules read this view, so that only a change of
 * these fields runs them.
 */
import { MOST_CLAIMS } from '../../../api/pod/annotation-limits.ts';
import type { Pod } from '../../../api/kubernetes/core.ts';
import type { Labels } from '../../../api/kubernetes/meta.ts';
import { attachmentProvider, portName } from '../../../api/names.ts';
import { parseNetworkSelections } from '../../../api/pod/network-selection.ts';
import { annotationKey, DEFAULT_PROVIDER, MIGRATION_JOB_LABEL, podAnnotation, POD_CONDITION } from '../../../api/well-known.ts';
import type { ReadPodAnnotation } from '../../../api/annotations.ts';
import { READ_POD_ANNOTATIONS } from '../../../api/annotations.ts';
import { splitList } from '../../../net/dual.ts';
import { proofsOf, provenOf } from '../../../kinds/pod/table/binding-proof.ts';
import { keyOf } from '../../../world/resources.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { RowOwner } from '../../output.ts';
import { isAlive, machineNameOf, ordinalOf } from './pod-life.ts';
import type { Ordinal } from './pod-life.ts';

export interface PodView {
  /** `namespace/name` */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  readonly terminating: boolean;
  /** Whether it still uses its network. */
  readonly alive: boolean;
  /** Empty until it is scheduled. */
  readonly node: string;
  readonly statefulSet: Ordinal | undefined;
  /** Whether a controller creates another pod when this one is deleted. */
  readonly managed: boolean;
  /** The virtual machine that it runs and that retains its addresses; with its uid if the machine is known. */
  readonly machine: { readonly name: string; readonly uid: string | undefined } | undefined;
  /** The migration of which it is the target, as annotated by KubeVirt. */
  readonly migration: { readonly name: string; readonly uid: string } | undefined;
  /** The annotations about interfaces that rules read; `allocated` only for an interface with a proof. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Annotations `cidr` by key: the networks whose masks the node agent gave to its interfaces. No request. */
  readonly masks: Labels;
  /** Providers of interfaces marked as allocated without a proof: their addresses are requests. */
  readonly unproven: readonly string[];
  /** Empty unless the pod declares Vips, which select pods by label. */
  readonly labels: Labels;
  /** The observed condition `kiln.io/NetworkBound`. */
  readonly boundCondition: 'True' | 'False' | 'Unknown' | undefined;
}

/** Undefined if there is no such pod, or it has `hostNetwork`. */
export const podView: Query<PodView | undefined> = defineQuery('pod-view', (world, key) => {
  const pod = world.pods.get(key);
  return pod === undefined ? undefined : podViewOf(world, pod);
});

/** Also for a pod that is not in the World. Undefined with `hostNetwork`. */
export function podViewOf(world: World, pod: Pod): PodView | undefined {
  if (pod.spec.hostNetwork === true) return undefined;
  const { metadata } = pod;
  const statefulSet = ordinalOf(pod);
  const machine = machineNameOf(pod, world.settings);
  const claims = readClaims(world, pod, machine, networkAnnotations(pod));
  const unproven = unprovenProviders(world, pod, machine, claims);
  return {
    key: keyOf(pod),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    created: metadata.creationTimestamp,
    terminating: metadata.deletionTimestamp !== undefined,
    alive: isAlive(pod, (deadline) => world.deadlines.passed(deadline)),
    node: pod.spec.nodeName ?? '',
    statefulSet,
    managed: metadata.ownerReferences?.some(({ controller }) => controller === true) === true,
    machine: machine === undefined ? undefined : { name: machine, uid: world.ask(machineUid, `${metadata.namespace ?? ''}/${machine}`) },
    migration: migrationOf(pod),
    annotations: unproven.length === 0 ? claims : withoutAllocated(claims, unproven),
    masks: masksOf(pod),
    unproven,
    labels: metadata.annotations?.[annotationKey.allowedAddressPairs] === undefined ? {} : (metadata.labels ?? {}),
    boundCondition: pod.status?.conditions?.find(({ type }) => type === POD_CONDITION)?.status,
  };
}

/** Annotations that users can write are no proof: a pod has addresses only if its port row or IP object agrees. */
function unprovenProviders(
  world: World,
  { metadata: { name, namespace = '', uid } }: Pod,
  machine: string | undefined,
  annotations: Labels,
): readonly string[] {
  return allocatedProviders({ annotations }).filter((provider) => {
    const annotation = (suffix: ReadPodAnnotation): string => annotations[podAnnotation(provider, suffix)] ?? '';
    const claim = provenOf(annotation('logical_switch'), splitList(annotation('ip_address')), annotation('mac_address'));
    return proofsOf(world, { namespace, name, uid, machine }, provider, claim).length === 0;
  });
}

/** Of very many claims, those of possible interfaces: its own, of attached networks, and with an IP object. */
function readClaims(world: World, { metadata: { name, namespace = '' } }: Pod, machine: string | undefined, annotations: Labels): Labels {
  const claims = allocatedProviders({ annotations });
  if (claims.length <= MOST_CLAIMS) return annotations;
  const podOrMachine = machine ?? name;
  const selected = [annotationKey.defaultNetworkAttachment, annotationKey.networkAttachments].flatMap((key) => {
    const parsed = parseNetworkSelections(annotations[key] ?? '', namespace);
    return parsed.ok ? parsed.selections : [];
  });
  const own = portName(podOrMachine, namespace, DEFAULT_PROVIDER);
  const read = new Set([
    DEFAULT_PROVIDER,
    ...world.ips.select('pod', `${namespace}/${podOrMachine}`).map(({ metadata: ip }) => ip.name.slice(own.length + 1)),
    ...selected.flatMap((one) => [
      attachmentProvider(one.name, one.namespace, one.interfaceName),
      attachmentProvider(one.name, one.namespace),
      `${one.name}.${one.namespace}`,
    ]),
  ]);
  return withoutAllocated(
    annotations,
    claims.filter((provider) => !read.has(provider)),
  );
}

function withoutAllocated(annotations: Labels, providers: readonly string[]): Labels {
  const claims = new Set(providers.map((provider) => provider + ALLOCATED));
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !claims.has(key)));
}

const ALLOCATED = '.kubernetes.io/allocated';

/** Providers of interfaces that are marked as allocated. */
export function allocatedProviders({ annotations }: Pick<PodView, 'annotations'>): readonly string[] {
  return Object.keys(annotations).flatMap((key) =>
    key.endsWith(ALLOCATED) && annotations[key] === 'true' ? [key.slice(0, -ALLOCATED.length)] : [],
  );
}

function migrationOf({ metadata: { annotations, labels } }: Pod): PodView['migration'] {
  const name = annotations?.[annotationKey.migrationJob] ?? '';
  const uid = labels?.[MIGRATION_JOB_LABEL] ?? '';
  return name === '' && uid === '' ? undefined : { name, uid };
}

const machineUid: Query<string | undefined> = defineQuery('machine-uid', (world, key) => world.virtualMachines.get(key)?.metadata.uid);

/** The name of its interfaces: its own, or that of its virtual machine. */
export function podOrMachineName({ name, machine }: PodView): string {
  return machine?.name ?? name;
}

/** Whether its addresses are retained without a pod. */
export function retainsAddress({ statefulSet, machine }: PodView): boolean {
  return statefulSet !== undefined || machine !== undefined;
}

/** The pod as the owner of its rows. */
export function podOwner({ namespace, name, uid, created }: PodView): RowOwner {
  return { kind: 'pod', namespace, name, uid, created };
}

const SUFFIXES: ReadonlySet<string> = new Set(READ_POD_ANNOTATIONS);
const UNSCOPED: ReadonlySet<string> = new Set([
  annotationKey.networkAttachments,
  annotationKey.defaultNetworkAttachment,
  annotationKey.northGateway,
  annotationKey.vip,
  annotationKey.allowedAddressPairs,
  annotationKey.podEip,
  annotationKey.podSnat,
]);
const MARK = '.kubernetes.io/';

const CIDR = `${MARK}cidr`;
const NO_MASKS: Labels = {};

function masksOf({ metadata: { annotations = {} } }: Pod): Labels {
  const found = Object.entries(annotations).filter(([key]) => key.endsWith(CIDR));
  return found.length === 0 ? NO_MASKS : Object.fromEntries(found);
}

function networkAnnotations(pod: Pod): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(pod.metadata.annotations ?? {})) {
    const at = key.indexOf(MARK);
    if (UNSCOPED.has(key)) kept[key] = value;
    else if (at !== -1) {
      const suffix = key.slice(at + MARK.length);
      const dot = suffix.indexOf('.');
      if (SUFFIXES.has(dot === -1 ? suffix : suffix.slice(0, dot))) kept[key] = value;
    }
  }
  return kept;
}
