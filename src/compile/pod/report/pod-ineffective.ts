/**
 * Annotations of a pod that are valid and have no effect: keys that no program reads, Vips that leave the pod out, options for a port that
 * its interface does not have, requests that another one outranks, a network that is listed twice. The pod runs; its condition names them.
 */
import type { AttachedNetwork } from '../../../api/pod/annotation-keys.ts';
import { mayHaveUnreadKeys, podKeys } from '../../../api/pod/annotation-keys.ts';
import { attachmentProvider } from '../../../api/names.ts';
import type { ReadPodAnnotation } from '../../../api/annotations.ts';
import type { Pod } from '../../../api/kubernetes/core.ts';
import type { Finding, Subject } from '../../../api/validation/finding.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import { annotationKey, DEFAULT_PROVIDER, podAnnotation } from '../../../api/well-known.ts';
import { bitsOf } from '../../../net/address.ts';
import { cidrCovers, cidrOf, parseCidr } from '../../../net/cidr.ts';
import { ofFamily } from '../../../net/dual.ts';
import { commandText } from '../../../text/command-text.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { selectsPod, allowedPairsOf, vipView } from '../../vip-eip/vip-view.ts';
import { isDistributed } from '../../subnet/rows/subnet-gateway.ts';
import { emittedSubnet } from '../../subnet/validity/subnet-state.ts';
import { subnetView } from '../../subnet/validity/subnet-view.ts';
import { unreadAnnotations } from '../../unread-annotations.ts';
import { attachment, attachmentOfDefault } from '../interface/network-attachment.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf, isAllocated } from '../interface/pod-interface.ts';
import { ownNetworkOf } from '../interface/own-network.ts';
import { interfacesOf, replacingSelections, selectionsInEffect } from '../interface/pod-interfaces.ts';
import type { PodView } from '../view/pod-view.ts';
import { podView } from '../view/pod-view.ts';
import { ineffectiveRequests, mayHaveIneffectiveRequests } from './ineffective-requests.ts';
import { allowedPortVips, isOfAnother, singleAddress } from '../tenancy/port-vip-tenancy.ts';
import { forwardsLayer2, isSecured } from '../tenancy/port-tenancy.ts';

/** Suffixes that most pods do not have, and that may be without effect. */
const SELDOM = /\/(layer2_forward|port_vips|port_security|dhcp-v[46]-options|activation_strategy|security_groups)$/;

/** Likewise, keys of the whole pod. */
const TELLING = [
  annotationKey.networkAttachments,
  annotationKey.defaultNetworkAttachment,
  annotationKey.allowedAddressPairs,
  annotationKey.vip,
] as const;

/** Whether a pod may have a finding: a cheap test, for the many that have none. */
export function mayBeIneffective({ metadata: { annotations }, spec }: Pod): boolean {
  if (annotations === undefined) return false;
  if (spec.hostNetwork === true) return podKeys(annotations).length > 0 || mayHaveUnreadKeys('Pod', annotations);
  if (TELLING.some((key) => annotations[key] !== undefined) || hasOthersAlone(annotations)) return true;
  return (
    Object.keys(annotations).some((key) => SELDOM.test(key)) ||
    mayHaveIneffectiveRequests(annotations) ||
    mayHaveUnreadKeys('Pod', annotations)
  );
}

/** Whether all its addresses are in attached networks: one of them may be its own interface. */
function hasOthersAlone(annotations: Readonly<Record<string, string>>): boolean {
  return annotations[OWN_ALLOCATED] === undefined && Object.keys(annotations).some((key) => key.endsWith(ALLOCATED));
}

const OWN_ALLOCATED = podAnnotation(DEFAULT_PROVIDER, 'allocated');
const ALLOCATED = '.kubernetes.io/allocated';

export const podIneffective: Query<readonly Finding[]> = defineQuery('pod-ineffective', (world, key) => {
  const pod = world.pods.get(key);
  if (pod === undefined) return [];
  const { namespace = '', name, annotations } = pod.metadata;
  const subject = { kind: 'Pod', namespace, name };
  if (pod.spec.hostNetwork === true) return [...ofHostNetwork(subject, annotations ?? {}), ...unreadAnnotations(subject, annotations)];
  const view = world.ask(podView, key);
  if (view === undefined || !view.alive) return [];
  const { interfaces } = interfacesOf(world, view);
  return [
    ...unreadAnnotations(subject, annotations, networksOf(world, view, interfaces)),
    ...repeatedNetworks(world, subject, view),
    ...ofOwnNetwork(world, subject, view, interfaces),
    ...ofDefaultInterface(world, subject, interfaces),
    ...interfaces.flatMap((nic) => [
      ...(nic.isOvn ? ofPort(world, subject, nic) : withoutPort(subject, nic)),
      ...familyOfVip(subject, nic),
      ...ineffectiveRequests(world, subject, nic, annotations ?? {}),
    ]),
    ...pairsLeftOut(world, subject, view, interfaces),
  ];
});

function ofHostNetwork(subject: Subject, annotations: Readonly<Record<string, string>>): readonly Finding[] {
  return podKeys(annotations).map((key) =>
    finding(
      subject,
      key,
      annotations[key] ?? '',
      'does nothing',
      'a pod with spec.hostNetwork is in the network of its node, and has no address of its own',
    ),
  );
}

/** The networks that the pod attaches, with the keys that are read for them; both forms while it is unknown which plugin provides one. */
function networksOf(world: World, pod: PodView, interfaces: readonly PodInterface[]): readonly AttachedNetwork[] {
  const selected = selectionsInEffect(pod, ownNetworkOf(world, pod));
  const byNetwork = new Map<string, { providers: string[]; interfaces: string[] }>();
  const entryOf = (network: string): { providers: string[]; interfaces: string[] } => {
    const found = byNetwork.get(network) ?? { providers: [], interfaces: [] };
    byNetwork.set(network, found);
    return found;
  };
  for (const { namespace, name, interfaceName } of selected.ok ? selected.selections : []) {
    const entry = entryOf(`${name}.${namespace}`);
    if (interfaceName !== '') entry.interfaces.push(interfaceName);
    const kind = world.ask(attachment, `${namespace}/${name}`);
    if (kind === undefined || kind === 'unreadable')
      entry.providers.push(attachmentProvider(name, namespace), attachmentProvider(name, namespace, interfaceName), `${name}.${namespace}`);
  }
  for (const { provider, selection } of interfaces)
    if (selection !== undefined) entryOf(`${selection.name}.${selection.namespace}`).providers.push(provider);
  return [...byNetwork].map(([network, { providers, interfaces: names }]) => ({
    network,
    providers: [...new Set(providers)],
    interfaces: names,
  }));
}

/** Without names of interfaces one interface serves all entries of a network in the list. */
function repeatedNetworks(world: World, subject: Subject, pod: PodView): readonly Finding[] {
  const selected = selectionsInEffect(pod, ownNetworkOf(world, pod));
  if (!selected.ok) return [];
  const times = new Map<string, number>();
  for (const { namespace, name, interfaceName } of selected.selections) {
    const network = `${namespace}/${name}`;
    const kind = world.ask(attachment, network);
    if (kind === 'foreign' || (kind === 'ovn' && interfaceName !== '')) continue;
    times.set(network, (times.get(network) ?? 0) + 1);
  }
  const value = pod.annotations[annotationKey.networkAttachments] ?? '';
  return [...times].flatMap(([network, count]) => {
    if (count < 2) return [];
    const rule =
      world.ask(attachment, network) === 'ipam-only'
        ? `all of them have one address: another plugin makes the interfaces, and a pod has one address for such a network`
        : `the pod gets one interface of it; name them to get more: ${network}@net1,${network}@net2`;
    return [
      finding(
        subject,
        annotationKey.networkAttachments,
        value,
        `lists network ${network} ${count} times without names of interfaces`,
        rule,
      ),
    ];
  });
}

/** The network of its own interface was decided when the pod started. */
function ofOwnNetwork(world: World, subject: Subject, pod: PodView, interfaces: readonly PodInterface[]): readonly Finding[] {
  const key = annotationKey.defaultNetworkAttachment;
  const value = pod.annotations[key];
  const { kind } = ownNetworkOf(world, pod);
  const has = interfaces.flatMap(({ replacesOwn, selection }) =>
    replacesOwn === true && selection !== undefined ? [`${selection.namespace}/${selection.name}`] : [],
  );
  const named = replacingSelections(pod).map(({ namespace, name }) => `${namespace}/${name}`);
  const isKept = kind === 'own' ? value === undefined : has.every((one) => named.includes(one)) && named.length === has.length;
  if (kind === 'open' || isKept) return [];
  const network = kind === 'own' ? 'the cluster, with its own port' : `NetworkAttachmentDefinition ${has.join(', ')}`;
  const undo = kind === 'own' ? 'remove the annotation' : `set it to ${has.join(',')}`;
  const rule = `the own interface of a pod that runs stays in the network that it started in, which is that of ${network}; ${undo}, or delete the pod so that the next one has the other network`;
  return [finding(subject, key, value ?? '', 'is not in effect', rule)];
}

/** Its plugin waits for, or takes, the addresses of the pod's default interface, and never those of the network. */
function ofDefaultInterface(world: World, subject: Subject, interfaces: readonly PodInterface[]): readonly Finding[] {
  return interfaces.flatMap(({ pod, provider, selection }) => {
    const network = selection === undefined ? '' : `${selection.namespace}/${selection.name}`;
    if (network === '' || !world.ask(attachmentOfDefault, network)) return [];
    const asDefault = pod.annotations[annotationKey.defaultNetworkAttachment];
    const key = asDefault === undefined ? annotationKey.networkAttachments : annotationKey.defaultNetworkAttachment;
    const problem = `names network ${network}, whose spec.config has no provider`;
    const rule =
      asDefault === undefined
        ? `its plugin takes the addresses of the pod's own interface: write provider ${provider} into it`
        : `its plugin waits for addresses of the pod's own interface, which the pod does not have with this annotation: write provider ${provider} into it`;
    const next = commandText`kubectl edit net-attach-def -n ${selection?.namespace ?? ''} ${selection?.name ?? ''}`;
    return [finding(subject, key, pod.annotations[key] ?? '', problem, `${rule}; ${next}`)];
  });
}

const PORT_OPTIONS: readonly ReadPodAnnotation[] = [
  'port_security',
  'port_vips',
  'layer2_forward',
  'security_groups',
  'activation_strategy',
  'dhcp-v4-options',
  'dhcp-v6-options',
];

/** Kiln only gives an address to an interface that another plugin makes. */
function withoutPort(subject: Subject, nic: PodInterface): readonly Finding[] {
  return PORT_OPTIONS.flatMap((suffix) => {
    const value = annotationOf(nic, suffix);
    if (value === '' || (suffix === 'port_security' && value === 'false')) return [];
    const rule = 'another plugin makes this interface: it has an address of its Subnet, and no port in OVN';
    return [finding(subject, podAnnotation(nic.provider, suffix), value, 'does nothing', rule)];
  });
}

function ofPort(world: World, subject: Subject, nic: PodInterface): readonly Finding[] {
  const subnet = annotationOf(nic, 'logical_switch');
  if (!isAllocated(nic) || subnet === '') return [];
  return [
    ...ineffectiveLayer2(world, subject, nic, subnet),
    ...ineffectiveDhcp(world, subject, nic, subnet),
    ...addressesWithoutGateway(world, subject, nic, subnet),
  ];
}

/** Items of `port_vips` in a distributed Subnet that are in port security alone. Not those outside of it: no policy of it concerns them. */
function addressesWithoutGateway(world: World, subject: Subject, nic: PodInterface, subnet: string): readonly Finding[] {
  const view = emittedSubnet(world, subnet);
  if (view === undefined || !isDistributed(view) || (nic.pod.annotations[annotationKey.northGateway] ?? '') !== '') return [];
  const value = annotationOf(nic, 'port_vips');
  const ineffective = (problem: string, rule: string): Finding =>
    finding(subject, podAnnotation(nic.provider, 'port_vips'), value, problem, rule);
  return allowedPortVips(world, nic, subnet).flatMap((item) => {
    const single = singleAddress(item);
    const block = single === undefined ? parseCidr(item) : cidrOf(single, bitsOf(single.family));
    const network = block === undefined ? undefined : parseCidr(ofFamily(view, block.family)?.cidr ?? '');
    if (block === undefined || network === undefined || !cidrCovers(network, block)) return [];
    if (single === undefined)
      return [
        ineffective(`lists network ${item}, which has no gateway`, `no packet from it leaves Vpc ${view.vpc}; list addresses one by one`),
      ];
    if (world.settings.tenancy !== 'open' || !isOfAnother(world, nic, subnet, single)) return [];
    return [
      ineffective(
        `lists ${item}, which has no gateway at this port: the Subnet, another object, or an IPPool for other namespaces has it`,
        `list a free address, or name a shared Vip in annotation ${annotationKey.allowedAddressPairs}`,
      ),
    ];
  });
}

/** Port security also drops frames to other MACs. */
function ineffectiveLayer2(world: World, subject: Subject, nic: PodInterface, subnet: string): readonly Finding[] {
  if (!forwardsLayer2(world, nic, subnet) || !isSecured(world, nic, subnet)) return [];
  const security = podAnnotation(nic.provider, 'port_security');
  const rule =
    annotationOf(nic, 'port_security') === 'true'
      ? `${security} "true" keeps every frame for another MAC from the port: take one of the two out`
      : `ports of this cluster have port security, which keeps every frame for another MAC from the port: it needs ${security} "false"`;
  return [finding(subject, podAnnotation(nic.provider, 'layer2_forward'), 'true', 'does nothing', rule)];
}

function ineffectiveDhcp(world: World, subject: Subject, nic: PodInterface, subnet: string): readonly Finding[] {
  const view = world.ask(subnetView, subnet);
  if (view === undefined) return [];
  return (
    [
      ['dhcp-v4-options', 'IPv4', view.v4],
      ['dhcp-v6-options', 'IPv6', view.v6],
    ] as const
  ).flatMap(([suffix, family, network]) => {
    const value = annotationOf(nic, suffix);
    if (value === '' || network !== undefined) return [];
    return [finding(subject, podAnnotation(nic.provider, suffix), value, 'does nothing', `Subnet ${subnet} has no ${family} network`)];
  });
}

/** The addresses of a Vip are used as they are. */
function familyOfVip(subject: Subject, nic: PodInterface): readonly Finding[] {
  const vip = (nic.pod.annotations[annotationKey.vip] ?? '').trim();
  const family = annotationOf(nic, 'ip_family');
  if (vip === '' || family === '') return [];
  const rule = `the pod has the addresses of Vip ${vip}, which ${annotationKey.vip} names, as they are`;
  return [finding(subject, podAnnotation(nic.provider, 'ip_family'), family, 'does nothing', rule)];
}

/** Vips that the pod declares, and whose address none of its ports may use: they choose other pods, or are in another Subnet. */
function pairsLeftOut(world: World, subject: Subject, pod: PodView, interfaces: readonly PodInterface[]): readonly Finding[] {
  if (!interfaces.every(isAllocated)) return [];
  const subnets = interfaces.map((nic) => annotationOf(nic, 'logical_switch')).filter((subnet) => subnet !== '');
  return allowedPairsOf(pod.annotations).flatMap((name) => {
    const vip = world.ask(vipView, name);
    if (vip?.addresses === undefined || vip.namespace !== pod.namespace) return [];
    const value = pod.annotations[annotationKey.allowedAddressPairs] ?? '';
    const look = commandText`kubectl get vip ${name}`;
    const ineffective = (problem: string, rule: string): Finding =>
      finding(subject, annotationKey.allowedAddressPairs, value, problem, rule);
    if (!selectsPod(vip, pod))
      return [
        ineffective(
          `names Vip ${name}, which leaves the pod out`,
          `its spec.selector asks for ${vip.selector.join(', ')}: label the pod so, or change the selector; ${look}`,
        ),
      ];
    if (subnets.length === 0 || subnets.includes(vip.subnet)) return [];
    return [
      ineffective(
        `names Vip ${name} of Subnet ${vip.subnet}`,
        `no interface of the pod is in that Subnet, and a port may use addresses of its own Subnet alone; ${look}`,
      ),
    ];
  });
}

function finding(subject: Subject, key: string, value: string, problem: string, rule: string): Finding {
  return findingOf(subject, { code: 'AnnotationIneffective', field: `metadata.annotations[${key}]`, value, problem, rule });
}
