/**
 * The interfaces of a pod: the networks that its annotations attach, in their order, then its own. The record of an interface (annotation,
 * IP object) outlives its source: a NetworkAttachmentDefinition that is deleted or changed, or a second attachment of its network, does not
 * remove a running interface; nor does an edit of the annotation that replaces its own (`own-network.ts`).
 */
import type { Reason } from '../../../api/reasons.ts';
import { shown } from '../../../api/validation/finding.ts';
import type { NetworkSelection, NetworkSelections } from '../../../api/pod/network-selection.ts';
import { MOST_NETWORKS } from '../../../api/pod/annotation-limits.ts';
import { parseNetworkSelections, tooMany } from '../../../api/pod/network-selection.ts';
import { attachmentProvider, parseProvider } from '../../../api/names.ts';
import { annotationKey, DEFAULT_PROVIDER } from '../../../api/well-known.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { attachment, unreadableAttachment } from './network-attachment.ts';
import type { OwnNetwork } from './own-network.ts';
import { ownNetworkOf } from './own-network.ts';
import type { PodInterface } from './pod-interface.ts';
import { isIpOfPod, ownInterface, portId, portOf } from './pod-interface.ts';
import type { PodView } from '../view/pod-view.ts';
import { allocatedProviders, podOrMachineName, podView } from '../view/pod-view.ts';
import { commandText } from '../../../text/command-text.ts';

export interface PodInterfaces {
  readonly interfaces: readonly PodInterface[];
  /** Why a network that the pod attaches has no interface yet. */
  readonly problem: { readonly reason: Reason; readonly message: string } | undefined;
}

export function interfacesOf(world: World, pod: PodView): PodInterfaces {
  const network = ownNetworkOf(world, pod);
  const attached = attachedTo(world, pod, network);
  return hasOwnInterface(world, pod, network) ? { ...attached, interfaces: [...attached.interfaces, ownInterface(pod)] } : attached;
}

function hasOwnInterface(world: World, { annotations }: PodView, { kind }: OwnNetwork): boolean {
  if (world.settings.nonPrimaryCni || kind === 'replaced') return false;
  return kind === 'own' || annotations[annotationKey.defaultNetworkAttachment] === undefined;
}

/** The interface of a pod with this port name, existing or desired. */
export function interfaceOfPort(world: World, pod: PodView, port: string): PodInterface | undefined {
  if (attachesNetworks(pod)) return world.ask(interfacesByPort, pod.key)[port];
  return interfacesOf(world, pod).interfaces.find((nic) => nic.port === port);
}

/** For pods with attached networks: they may have many interfaces, and each IP object looks up its own. */
const interfacesByPort: Query<Readonly<Record<string, PodInterface>>> = defineQuery('pod-interfaces-by-port', (world, key) => {
  const pod = world.ask(podView, key);
  return pod === undefined ? {} : Object.fromEntries(interfacesOf(world, pod).interfaces.map((nic) => [nic.port, nic]));
});

const NONE: PodInterfaces = { interfaces: [], problem: undefined };

/** The annotations that attach networks, in order of precedence. */
const SELECTING = [annotationKey.defaultNetworkAttachment, annotationKey.networkAttachments] as const;

function attachesNetworks(pod: PodView): boolean {
  return SELECTING.some((key) => pod.annotations[key] !== undefined);
}

function attachedTo(world: World, pod: PodView, network: OwnNetwork): PodInterfaces {
  if (!attachesNetworks(pod) && network.kind !== 'replaced') return NONE;
  const recorded = recordedProviders(world, pod);
  const selected = selectionsInEffect(pod, network);
  const replacing = new Set(network.kind === 'replaced' ? network.providers : []);
  if (!selected.ok) {
    const kept = [...recorded].filter((provider) => provider !== DEFAULT_PROVIDER).toSorted();
    return {
      interfaces: kept.map((provider) => interfaceOf(pod, provider, undefined, replacing.has(provider))),
      problem: { reason: 'InvalidAnnotation', message: selected.problem },
    };
  }
  const interfaces: PodInterface[] = [];
  const taken = new Set<string>();
  const times = timesSelected(selected.selections);
  let problem: PodInterfaces['problem'];
  const add = (provider: string, selection: NetworkSelection | undefined, replaces: boolean): void => {
    taken.add(provider);
    interfaces.push(interfaceOf(pod, provider, selection, replaces));
  };
  // They stay, whether their annotation still names them or not.
  const named = replacing.size === 0 ? [] : replacingSelections(pod);
  for (const provider of replacing)
    add(
      provider,
      named.find((selection) => providersOf(selection).includes(provider)),
      true,
    );
  for (const selection of selected.selections) {
    const resolved = resolve(world, selection, times, recorded, taken);
    if (typeof resolved === 'object') problem ??= resolved;
    else if (resolved !== '' && !taken.has(resolved)) add(resolved, selection, selected.replacing.has(selection));
  }
  return { interfaces, problem };
}

/** Possible providers of a network, that of one of its interfaces first. */
function providersOf({ namespace, name, interfaceName }: NetworkSelection): readonly string[] {
  return [attachmentProvider(name, namespace, interfaceName), attachmentProvider(name, namespace), `${name}.${namespace}`];
}

function interfaceOf(pod: PodView, provider: string, selection: NetworkSelection | undefined, replacesOwn: boolean): PodInterface {
  const port = portOf(pod, provider);
  return {
    pod,
    provider,
    port,
    row: portId(port),
    isOvn: parseProvider(provider).kind !== 'ipam-only',
    selection: selection ?? selectionOfProvider(provider),
    ...(replacesOwn && { replacesOwn: true as const }),
  };
}

/** For an interface that is known only by its record. */
function selectionOfProvider(provider: string): NetworkSelection {
  const parsed = parseProvider(provider);
  const named = parsed.kind === 'attachment' || parsed.kind === 'ipam-only';
  return { namespace: named ? parsed.namespace : '', name: named ? parsed.nad : provider, interfaceName: '', ips: [], mac: '' };
}

/** All networks that annotations attach, or a problem as a sentence. */
export function selectionsOf(pod: Annotated): NetworkSelections {
  return selectionsIn(pod, SELECTING);
}

/** Those that are in effect: a pod that is bound keeps the network of its own interface. */
export function selectionsInEffect(pod: Annotated, { kind }: OwnNetwork): Selected {
  return selectionsIn(pod, kind === 'open' ? SELECTING : [annotationKey.networkAttachments]);
}

/** Those that annotation `default-network` names; none if it is not readable. */
export function replacingSelections(pod: Annotated): readonly NetworkSelection[] {
  const selected = selectionsIn(pod, [annotationKey.defaultNetworkAttachment]);
  return selected.ok ? selected.selections : [];
}

type Annotated = Pick<PodView, 'key' | 'namespace' | 'annotations'>;
type Selected =
  | { readonly ok: true; readonly selections: readonly NetworkSelection[]; readonly replacing: ReadonlySet<NetworkSelection> }
  | Extract<NetworkSelections, { readonly ok: false }>;

function selectionsIn({ key, namespace, annotations }: Annotated, selecting: readonly (typeof SELECTING)[number][]): Selected {
  const selections: NetworkSelection[] = [];
  const replacing = new Set<NetworkSelection>();
  for (const annotation of selecting) {
    const text = annotations[annotation];
    if (text === undefined) continue;
    const isDefault = annotation === annotationKey.defaultNetworkAttachment;
    const parsed = parseNetworkSelections(text, namespace);
    const selected = selections.length + (parsed.ok ? parsed.selections.length : 0);
    const wrong = !parsed.ok
      ? parsed
      : selected > MOST_NETWORKS
        ? tooMany(selected)
        : isDefault && parsed.selections.length === 0
          ? NO_DEFAULT
          : undefined;
    if (wrong !== undefined) return { ok: false, problem: `Pod ${key}: annotation ${annotation} "${shown(text)}" ${wrong.problem}` };
    if (!parsed.ok) continue;
    selections.push(...parsed.selections);
    if (isDefault) for (const one of parsed.selections) replacing.add(one);
  }
  return { ok: true, selections, replacing };
}

/** Multus starts no pod with it. */
const NO_DEFAULT = {
  problem: "names no network for the pod's own interface; name a NetworkAttachmentDefinition, or remove the annotation",
} as const;

/** How often each network is attached, by `namespace/name`: a list may be very long. */
function timesSelected(selections: readonly NetworkSelection[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { namespace, name } of selections) times.set(`${namespace}/${name}`, (times.get(`${namespace}/${name}`) ?? 0) + 1);
  return times;
}

/** The provider of a network; empty if another plugin implements it. */
function resolve(
  world: World,
  selection: NetworkSelection,
  times: ReadonlyMap<string, number>,
  recorded: ReadonlySet<string>,
  taken: ReadonlySet<string>,
): string | NonNullable<PodInterfaces['problem']> {
  const { namespace, name } = selection;
  const [single = '', shared = '', addressesOnly = ''] = providersOf(selection);
  const kept = [single, shared, addressesOnly].find((provider) => recorded.has(provider) && !taken.has(provider));
  if (kept !== undefined) return kept;
  const key = `${namespace}/${name}`;
  const kind = world.ask(attachment, key);
  if (kind === 'foreign') return '';
  if (kind === 'ipam-only') return addressesOnly;
  if (kind === 'ovn') {
    return (times.get(key) ?? 0) > 1 ? single : shared;
  }
  const look = commandText`kubectl get net-attach-def -n ${namespace}`;
  if (kind === undefined)
    return {
      reason: 'WaitingForNetwork',
      message: `NetworkAttachmentDefinition ${key}, which the pod is attached to, does not exist; ${look}`,
    };
  return { reason: 'InvalidNetwork', message: unreadableAttachment(world, key)?.message ?? '' };
}

/** Providers of interfaces with a record: in the pod's annotations and in IP objects. */
function recordedProviders(world: World, pod: PodView): ReadonlySet<string> {
  const recorded = new Set(allocatedProviders(pod));
  const prefix = `${portOf(pod, DEFAULT_PROVIDER)}.`;
  for (const ip of world.ips.select('pod', `${pod.namespace}/${podOrMachineName(pod)}`)) {
    if (ip.metadata.name.startsWith(prefix) && isIpOfPod(ip, pod)) recorded.add(ip.metadata.name.slice(prefix.length));
  }
  return recorded;
}
