/**
 * Annotation keys of Kube-OVN's and Kiln's groups that no program reads: misspelt, for a network that the pod does not attach, or on an
 * object of another kind. A user who writes one expects an effect.
 */
import { nearest } from '../../text/edit-distance.ts';
import type { AnnotationUse } from '../annotations.ts';
import { AGENT_ANNOTATIONS, KILN_ANNOTATIONS, OBJECT_ANNOTATIONS, POD_ANNOTATIONS } from '../annotations.ts';
import type { Labels } from '../kubernetes/meta.ts';
import type { PodAnnotationSuffix } from '../well-known.ts';
import { annotationKey, DEFAULT_PROVIDER, kilnAnnotation } from '../well-known.ts';

/** A network that a pod attaches. */
export interface AttachedNetwork {
  /** `<nad>.<namespace>`: the beginning of the providers of its interfaces. */
  readonly network: string;
  /** What the keys of its interfaces begin with; none if another plugin provides it. */
  readonly providers: readonly string[];
  /** Names of its interfaces in the pod's list. */
  readonly interfaces: readonly string[];
}

export interface UnreadKey {
  readonly key: string;
  /** What is read, as a sentence. */
  readonly rule: string;
}

/** Most keys of one object that are checked: its user may write thousands. */
const MOST = 10;

const KUBE_OVN = `${DEFAULT_PROVIDER}.kubernetes.io`;
const MARK = '.kubernetes.io';
const KILN = 'kiln.io';
/** The API group: no annotation of it is read, but it is near to those that are. */
const API_GROUP = 'kubeovn.io';

/** A kind of another project, whose objects have no annotation for Kube-OVN. */
const NETWORK = 'NetworkAttachmentDefinition';

const SUFFIXES: readonly string[] = Object.keys(POD_ANNOTATIONS);
const IS_SUFFIX: ReadonlySet<string> = new Set(SUFFIXES);
/** A key with one of these suffixes is certainly meant for Kube-OVN; the other suffixes are common words. */
const TELLING: ReadonlySet<string> = new Set(SUFFIXES.filter((suffix) => /[_-]/.test(suffix)));
const KEYS = Object.keys(annotationKey) as (keyof typeof annotationKey)[];
const OWN_NAMES: readonly string[] = [
  ...new Set([...SUFFIXES, ...namesIn(KEYS.map((key) => annotationKey[key])), ...Object.keys(AGENT_ANNOTATIONS)]),
];
const REQUESTS: readonly AnnotationUse[] = ['acts', 'checked'];
/** A user requests something with these; the others are written by Kube-OVN or Kiln, and may be a copy. */
const ASKING: ReadonlySet<string> = new Set([
  ...SUFFIXES.filter((suffix) => REQUESTS.includes(POD_ANNOTATIONS[suffix as PodAnnotationSuffix].use)),
  ...['ip_address', 'mac_address', 'logical_switch'],
  ...namesIn(
    KEYS.filter((key) => OBJECT_ANNOTATIONS[key].on === 'Pod' && OBJECT_ANNOTATIONS[key].use !== '-').map((key) => annotationKey[key]),
  ),
]);
const REQUESTED_SUFFIXES: readonly string[] = SUFFIXES.filter((suffix) => ASKING.has(suffix));
const IS_OWN_NAME: ReadonlySet<string> = new Set(OWN_NAMES);
/** Keys of a pod that are read or written on other kinds as well. */
const ALSO_ON: Readonly<Record<string, readonly string[]>> = {
  Node: ['ip_address', 'mac_address', 'logical_switch'],
  Namespace: ['logical_switch', 'ip_pool'],
};
/** Kinds whose annotations no other program copies: one of their keys is read on no other kind. */
const SINGLE = ['Vpc', 'Service', 'NetworkPolicy'] as const;
/** Keys that Kube-OVN writes on Services. */
const OF_SERVICES_MADE: readonly (keyof typeof annotationKey)[] = ['switchLbVip', 'routerLbVip'];
const KIND_OF_NAME: ReadonlyMap<string, string> = new Map(
  KEYS.filter((key) => (SINGLE as readonly string[]).includes(OBJECT_ANNOTATIONS[key].on) && !OF_SERVICES_MADE.includes(key)).map((key) => [
    annotationKey[key].slice(KUBE_OVN.length + 1),
    OBJECT_ANNOTATIONS[key].on,
  ]),
);
/** Kube-OVN's speaker reads it on Subnets. */
const ANNOUNCED: keyof typeof AGENT_ANNOTATIONS = 'bgp';
/** Keys of Kiln that a user writes, with the kinds that have them. */
const KILN_KEYS: ReadonlyMap<string, { readonly on: string; readonly isUsers: boolean }> = new Map(
  (Object.keys(kilnAnnotation) as (keyof typeof kilnAnnotation)[]).map((key) => {
    const { on, use } = KILN_ANNOTATIONS[key];
    return [kilnAnnotation[key], { on, isUsers: use === 'acts' }];
  }),
);

function namesIn(keys: readonly string[]): string[] {
  return keys.filter((key) => key.startsWith(`${KUBE_OVN}/`)).map((key) => key.slice(KUBE_OVN.length + 1));
}

/** Whether an object has a key that may be unread: cheap, for the many objects that have none. It errs on the side of true. */
export function mayHaveUnreadKeys(kind: string, annotations: Labels | undefined): boolean {
  if (annotations === undefined) return false;
  for (const key of Object.keys(annotations)) {
    const [group, name] = split(key);
    if (
      group === KUBE_OVN
        ? !IS_OWN_NAME.has(name) || kind === NETWORK || isOfOtherKind(kind, name)
        : isOurs(kind, group, name, []) && !isKilnKeyOf(kind, key)
    )
      return true;
    // Whether it is one of a network that the pod attaches is known only with its list of networks.
    if (kind === 'Pod' && group !== KUBE_OVN && group.slice(0, -MARK.length).includes('.') && group.endsWith(MARK)) return true;
  }
  return false;
}

/** The first keys of our groups that no program reads, by name. @param networks of a pod */
export function unreadKeys(kind: string, annotations: Labels | undefined, networks: readonly AttachedNetwork[] = []): readonly UnreadKey[] {
  if (annotations === undefined) return [];
  const keys = Object.keys(annotations).filter((key) => {
    const [group, name] = split(key);
    return isOurs(kind, group, name, networks) && !isRead(kind, key, networks);
  });
  return keys
    .toSorted()
    .slice(0, MOST)
    .map((key) => ({ key, rule: ruleFor(kind, key, networks) }));
}

/** The first keys, by name, with which a pod requests something of its network. */
export function podKeys(annotations: Labels): readonly string[] {
  return Object.keys(annotations)
    .filter((key) => {
      const [group, name] = split(key);
      return (group === KUBE_OVN || isOfAttachment(group)) && ASKING.has(base(name));
    })
    .toSorted()
    .slice(0, MOST);
}

/** Keys on a workload itself that are read on its pods alone. @param template the annotations that its pods get */
export function keysForTemplate(annotations: Labels | undefined, template: Labels = {}): readonly UnreadKey[] {
  if (annotations === undefined) return [];
  return podKeys(annotations)
    .filter((key) => template[key] === undefined)
    .map((key) => ({ key, rule: 'pods have the annotations of their template alone: write it into spec.template.metadata.annotations' }));
}

function split(key: string): readonly [group: string, name: string] {
  const at = key.indexOf('/');
  return at === -1 ? ['', key] : [key.slice(0, at), key.slice(at + 1)];
}

/** Without the interface after the suffix. */
function base(name: string): string {
  const dot = name.indexOf('.');
  return dot === -1 ? name : name.slice(0, dot);
}

function isOurs(kind: string, group: string, name: string, networks: readonly AttachedNetwork[]): boolean {
  if (group === KUBE_OVN || group === KILN || group === API_GROUP) return true;
  if (kind !== 'Pod') return isOfAttachment(group) && ASKING.has(base(name));
  if (!group.endsWith(MARK)) return false;
  const provider = group.slice(0, -MARK.length);
  return isOfAttachment(group) || (provider.includes('.') && TELLING.has(base(name))) || networkOf(provider, networks) !== undefined;
}

/** Whether a key after `ovn.kubernetes.io/`, with which a user requests something, is read on other kinds alone. */
function isOfOtherKind(kind: string, name: string): boolean {
  const only = KIND_OF_NAME.get(name);
  // Kube-OVN's own workloads may copy a Service's keys to their pods.
  if (only !== undefined) return only !== kind && kind !== 'Pod';
  return kind !== 'Pod' && ASKING.has(name) && ALSO_ON[kind]?.includes(name) !== true;
}

/** `<nad>.<namespace>.ovn.kubernetes.io`, with an interface perhaps. */
function isOfAttachment(group: string): boolean {
  return /^[^.]+(\.[^.]+)+\.ovn(\.[^.]+)?\.kubernetes\.io$/.test(group);
}

function networkOf(provider: string, networks: readonly AttachedNetwork[]): AttachedNetwork | undefined {
  return networks.find(({ network }) => provider === network || provider.startsWith(`${network}.`));
}

function isRead(kind: string, key: string, networks: readonly AttachedNetwork[]): boolean {
  const [group, name] = split(key);
  if (group === KILN) return isKilnKeyOf(kind, key);
  if (group === KUBE_OVN) return kind !== NETWORK && IS_OWN_NAME.has(name) && !isOfOtherKind(kind, name);
  if (group === API_GROUP) return false;
  const provider = group.slice(0, -MARK.length);
  if (networks.some(({ providers }) => providers.includes(provider)) && (IS_SUFFIX.has(name) || name in AGENT_ANNOTATIONS)) return true;
  return isOfInterface(provider, name, networks);
}

/** `<nad>.<namespace>.kubernetes.io/ip_address.<interface>`. */
function isOfInterface(provider: string, name: string, networks: readonly AttachedNetwork[]): boolean {
  const suffix = base(name);
  if (suffix !== 'ip_address' && suffix !== 'mac_address') return false;
  return networks.some(({ network, interfaces }) => network === provider && interfaces.includes(name.slice(suffix.length + 1)));
}

/** Another kind's key is unread where a user writes it; what Kiln writes may be a copy. */
function isKilnKeyOf(kind: string, key: string): boolean {
  const known = KILN_KEYS.get(key);
  return known !== undefined && (!known.isUsers || known.on.split(', ').includes(kind));
}

function ruleFor(kind: string, key: string, networks: readonly AttachedNetwork[]): string {
  const known = KILN_KEYS.get(key);
  if (known !== undefined) return `it is read on ${known.on}`;
  if (kind === NETWORK) return 'no annotation of it is read: write it on the pod, or into the Subnet of its provider';
  const [group, name] = split(key);
  if (group === KILN || group === API_GROUP) {
    const near = nearest(
      key,
      [...KILN_KEYS.keys()].filter((one) => isKilnKeyOf(kind, one) && KILN_KEYS.get(one)?.isUsers === true),
    );
    if (group === KILN && isNear(near?.distance, key.length - KILN.length)) return suggestion(near?.word ?? '');
    return nearestOwn(kind, name);
  }
  if (group === KUBE_OVN && isOfOtherKind(kind, name)) return onItsKind(KIND_OF_NAME.get(name));
  if (group !== KILN && group !== API_GROUP && group !== KUBE_OVN && kind !== 'Pod') return onItsKind(undefined);
  if (group === KUBE_OVN) return nearestOwn(kind, name);
  return networkRule(group.slice(0, -MARK.length), name, networks);
}

/** Names only keys that a user may write: those that Kiln or a node agent writes on the kind are none of them. */
function nearestOwn(kind: string, name: string): string {
  const ofKind = kind === 'Pod' ? [...ASKING] : [...KIND_OF_NAME].flatMap(([one, on]) => (on === kind ? [one] : []));
  const own = nearest(name, kind === 'Subnet' ? [...ofKind, ANNOUNCED] : ofKind);
  if (isNear(own?.distance, name.length)) return suggestion(`${KUBE_OVN}/${own?.word ?? ''}`);
  const elsewhere = nearest(name, [...ASKING, ...KIND_OF_NAME.keys()]);
  if (elsewhere === undefined || !isNear(elsewhere.distance, name.length)) return NOTHING_NEAR;
  return `the nearest key is ${KUBE_OVN}/${elsewhere.word}: ${onItsKind(KIND_OF_NAME.get(elsewhere.word))}`;
}

/** @param kind that reads the key; undefined for pods */
function onItsKind(kind: string | undefined): string {
  if (kind !== undefined) return `it is read on a ${kind}`;
  return 'it is read on pods: write it on the pod, or into the template of its workload';
}

function networkRule(provider: string, name: string, networks: readonly AttachedNetwork[]): string {
  const attached = networkOf(provider, networks) ?? nearestNetwork(provider, networks);
  const suffix = nearest(base(name), REQUESTED_SUFFIXES);
  if (!isNear(suffix?.distance, base(name).length)) return NOTHING_NEAR;
  if (attached === undefined)
    return networks.length === 0
      ? `the pod attaches no network; its own interface reads ${KUBE_OVN}/${suffix?.word ?? ''}`
      : `the pod attaches no such network, but ${networks.map(({ network }) => network).join(', ')}`;
  const [own] = attached.providers;
  if (own === undefined) return `another plugin provides network ${attached.network}`;
  const named = nearest(name.slice(base(name).length + 1), attached.interfaces);
  return suggestion(
    named !== undefined && name.includes('.')
      ? `${attached.network}${MARK}/${suffix?.word ?? ''}.${named.word}`
      : `${own}${MARK}/${suffix?.word ?? ''}`,
  );
}

function nearestNetwork(provider: string, networks: readonly AttachedNetwork[]): AttachedNetwork | undefined {
  const bare = provider.replace(/\.ovn(\.[^.]+)?$/, '');
  const near = nearest(
    bare,
    networks.map(({ network }) => network),
  );
  return isNear(near?.distance, bare.length) ? networks.find(({ network }) => network === near?.word) : undefined;
}

/** Of three letters one may differ. */
function isNear(distance: number | undefined, length: number): boolean {
  return distance !== undefined && distance <= Math.max(1, length / 3);
}

function suggestion(key: string): string {
  return `the nearest key that is read is ${key}`;
}

const NOTHING_NEAR = 'no key that is read is near to it: docs/reference.md lists them all';
