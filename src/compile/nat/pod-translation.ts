/**
 * Annotations `ovn.kubernetes.io/eip` and `ovn.kubernetes.io/snat` of pods in the default Vpc: an external address that is the pod's alone,
 * and one that the pod sends from. A tenant can write them, so they are requests: the address is reserved like any other, objects that have
 * it come first, and with `tenancy: namespaced` an administrator admits the namespace to the external Subnet.
 */
import { findingOf } from '../../api/validation/finding.ts';
import { annotationKey, kilnAnnotation } from '../../api/well-known.ts';
import { formatAddress } from '../../net/address.ts';
import type { Address } from '../../net/address.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import type { Dual } from '../../net/dual.ts';
import { parseDualAddress } from '../../net/dual.ts';
import { commandText, nameArgument } from '../../text/command-text.ts';
import { claimantOfObject } from '../../world/address-objects.ts';
import { enabledGatewayConfig } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { addressesOfNetworks, configuredPort, requestedExternals } from '../../world/external-subnets.ts';
import type { AddressRequest } from '../../world/reservations.ts';
import { splitKey } from '../../world/resources.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { heldBy } from '../pod/address/held-addresses.ts';
import { ownInterface } from '../pod/interface/pod-interface.ts';
import { addressHolder } from '../pod/tenancy/address-holder.ts';
import { excludedFromAddress, excludedFromSubnet } from '../pod/tenancy/tenancy.ts';
import type { PodView } from '../pod/view/pod-view.ts';
import { podOwner, podView } from '../pod/view/pod-view.ts';
import { isWithin, subnetView } from '../subnet/validity/subnet-view.ts';
import { isOursOnceAdopted } from '../vpc/vpc-view.ts';
import type { Problem } from './external-problem.ts';
import type { Pair, Translation } from './nat-pairs.ts';
import { natId } from './nat-pairs.ts';

/** What a pod may request, with the annotation and the type of its NAT row. */
export const POD_USES = {
  'pod-eip': { annotation: annotationKey.podEip, type: 'dnat_and_snat' },
  'pod-snat': { annotation: annotationKey.podSnat, type: 'snat' },
} as const;
export type PodUse = keyof typeof POD_USES;

export function isPodUse(text: string): text is PodUse {
  return text in POD_USES;
}

export interface PodTranslation {
  readonly translation: Translation;
  /** Undefined where no Subnet has the address: the ConfigMap of the external gateway alone connects the cluster. */
  readonly request: AddressRequest | undefined;
  /** The rows are in OVN already. */
  readonly placed: boolean;
}

/** By `<use>/<namespace>/<name>`: what the annotation of a pod requests, or why it cannot be; undefined if it requests nothing. */
export const podTranslation: Query<PodTranslation | Problem | undefined> = defineQuery('pod-translation', (world, key) => {
  const { namespace: use, name } = splitKey(key);
  const pod = world.ask(podView, name);
  if (!isPodUse(use) || pod === undefined || !pod.alive) return undefined;
  const text = (pod.annotations[POD_USES[use].annotation] ?? '').trim();
  // With the same address in both, it is the pod's for what it sends as well.
  if (text === '' || (use === 'pod-snat' && text === (pod.annotations[annotationKey.podEip] ?? '').trim())) return undefined;
  return translationFor(world, use, pod, text);
});

interface PodNatDenial {
  readonly annotation: string;
  readonly reason: Problem['reason'];
  readonly message: string;
}

/** For the webhook: annotations that can never be in effect, or that the namespace may not have. */
export function podNatDenials(world: World, pod: PodView): readonly PodNatDenial[] {
  const { defaultVpc, enableEipSnat } = world.settings;
  if (!enableEipSnat) return [];
  return Object.values(POD_USES).flatMap(({ annotation }): readonly PodNatDenial[] => {
    const text = (pod.annotations[annotation] ?? '').trim();
    if (text === '') return [];
    const parsed = parseDualAddress(text);
    const subject = `Pod ${pod.key}: annotation ${annotation} "${text}"`;
    if (!parsed.ok)
      return [
        { annotation, reason: 'PodNatInvalid', message: `${subject} ${parsed.problem}; it is one external address, or one of each family` },
      ];
    const external = externalWith(world, world.ask(requestedExternals, defaultVpc), parsed);
    const excluded = external === undefined ? undefined : excludedFrom(world, pod, external, textsOf(parsed));
    return excluded === undefined
      ? []
      : [{ annotation, reason: excludedReason(world, external ?? ''), message: `${subject}: ${excluded}` }];
  });
}

function textsOf({ v4, v6 }: Dual<Address>): { readonly v4: string; readonly v6: string } {
  return { v4: v4 === undefined ? '' : formatAddress(v4), v6: v6 === undefined ? '' : formatAddress(v6) };
}

/** The result of the reservation: undefined while it is granted or not needed. */
export function podReservationProblem(world: World, use: PodUse, pod: PodView, { request, placed }: PodTranslation): Problem | undefined {
  if (request === undefined) return undefined;
  const reservation = world.reservations.get(request.claimant);
  // Rows from before a restart or a take-over stay while the address is reserved again.
  if (reservation === undefined && placed) return undefined;
  const text = [request.v4, request.v6].filter((one) => one !== undefined).join(',');
  const subject = annotated(pod, use, text);
  if (reservation === undefined) return { reason: 'EipPending', message: `${subject} is not reserved yet`, inProgress: true };
  if (reservation.kind === 'granted') return undefined;
  return { reason: reservation.code, message: `${subject}: ${reservation.message}; name an address that is free; ${editPod(pod)}` };
}

function translationFor(world: World, use: PodUse, pod: PodView, text: string): PodTranslation | Problem {
  const { defaultVpc } = world.settings;
  const { annotation, type } = POD_USES[use];
  const problem = (reason: Problem['reason'], what: string, rule: string): Problem => {
    const { message } = findingOf(
      { kind: 'Pod', namespace: pod.namespace, name: pod.name },
      { code: reason, field: `annotation ${annotation}`, value: text, problem: what, rule },
    );
    return { reason, message };
  };
  if (!world.settings.enableEipSnat) return problem('EipSnatOff', 'has no effect', 'the controller runs with --enable-eip-snat=false');
  const parsed = parseDualAddress(text);
  if (!parsed.ok) return problem('PodNatInvalid', parsed.problem, `it is one external address, or one of each family; ${editPod(pod)}`);
  const nic = ownInterface(pod);
  const { addresses, ownRow } = heldBy(world, nic);
  // Kube-OVN's port is about to be adopted.
  const hasPort = ownRow || world.rows.state(nic.row)?.ownership.kind === 'legacy';
  if (addresses === undefined || !hasPort)
    return { ...problem('NatTargetMissing', 'waits for the address of the pod', describePod(pod)), inProgress: true };
  const inner = world.ask(subnetView, addresses.subnet);
  if (inner?.vpc !== defaultVpc)
    return problem(
      'NatVpcInvalid',
      `is on a pod of Vpc ${inner?.vpc ?? ''}`,
      `it works in the default Vpc ${defaultVpc} alone; elsewhere create an OvnFip or an OvnSnatRule; ${editPod(pod)}`,
    );
  const externals = world.ask(requestedExternals, defaultVpc);
  if (externals.length === 0)
    return problem(
      'VpcNotConnected',
      `needs an external gateway, and Vpc ${defaultVpc} has none`,
      'an administrator makes one by ConfigMap ovn-external-gw-config',
    );
  const external = externalWith(world, externals, parsed);
  if (external === undefined)
    return problem(
      'AddressOutOfRange',
      `is in no external network of Vpc ${defaultVpc}`,
      `name an address of Subnet ${externals.join(' or ')}`,
    );
  const texts = textsOf(parsed);
  const excluded = excludedFrom(world, pod, external, texts);
  if (excluded !== undefined)
    return { reason: excludedReason(world, external), message: `Pod ${pod.key}: annotation ${annotation} "${text}": ${excluded}` };
  const pairs = ([4, 6] as const).flatMap((family): readonly Pair[] => {
    const [outer, own] = family === 4 ? [texts.v4, addresses.v4] : [texts.v6, addresses.v6];
    return outer === '' || own === '' ? [] : [{ family, external: outer, inner: own }];
  });
  if (pairs.length === 0)
    return problem(
      'NatFamilyMismatch',
      `and the address of the pod are of different families`,
      `name an address of its family; ${editPod(pod)}`,
    );
  const isEip = use === 'pod-eip';
  const distributed = isEip && enabledGatewayConfig(world)?.distributed === true;
  const placed = pairs.every((pair) => isOursOnceAdopted(world, natId(defaultVpc, type, pair.external, pair.inner), podOwner(pod)));
  const translation: Translation = {
    kind: 'translation',
    vpc: defaultVpc,
    eip: '',
    external,
    pairs,
    mac: distributed ? addresses.mac : '',
    port: distributed ? nic.port : '',
    distributed,
    protocol: '',
    externalPort: '',
    internalPort: '',
    spec: '',
  };
  const request: AddressRequest = {
    claimant: claimantOfObject(isEip ? 'PodEip' : 'PodSnat', pod.key),
    subnets: [external],
    families: texts.v4 === '' ? 'v6' : texts.v6 === '' ? 'v4' : 'dual',
    ...(texts.v4 !== '' && { v4: texts.v4 }),
    ...(texts.v6 !== '' && { v6: texts.v6 }),
    withoutMac: true,
    // Many pods may send from one address: of one namespace, where tenants are kept apart.
    ...(!isEip && { sharingGroup: world.settings.tenancy === 'open' ? 'pod-snat' : `pod-snat ${pod.namespace}` }),
    // What is in use before a restart is reserved before all that is new.
    since: placed ? LONG_AGO : pod.created,
  };
  return { translation, request: world.ask(subnetView, external) === undefined ? undefined : request, placed };
}

const LONG_AGO = '1970-01-01T00:00:00Z';

/** The external Subnet with the addresses; one that does not exist has the network of the ConfigMap. */
function externalWith(world: World, externals: readonly string[], addresses: Dual<Address>): string | undefined {
  const { defaultVpc } = world.settings;
  const texts = textsOf(addresses);
  return externals.find((subnet) => {
    const view = world.ask(subnetView, subnet);
    if (view !== undefined) return view.cidr !== '' && isWithin(view, texts);
    const networks = (configuredPort(world, defaultVpc, subnet)?.networks ?? []).flatMap((network) => parseCidr(network) ?? []);
    return [addresses.v4, addresses.v6].every((one) => one === undefined || networks.some((network) => cidrContains(network, one)));
  });
}

/** Why the pod may not have the address. */
function excludedFrom(
  world: World,
  pod: PodView,
  external: string,
  texts: { readonly v4: string; readonly v6: string },
): string | undefined {
  if (world.ask(subnetView, external) !== undefined)
    return (excludedFromSubnet(world, pod.namespace, external) ?? excludedFromAddress(world, pod.namespace, external, [texts.v4, texts.v6]))
      ?.message;
  if (world.settings.tenancy !== 'open')
    return `no Subnet ${external} exists that could admit Namespace ${pod.namespace}; an administrator creates it, with annotation ${kilnAnnotation.admitNamespaces}`;
  const config = configuredPort(world, world.settings.defaultVpc, external);
  const port = addressesOfNetworks(config?.networks ?? []);
  const taken = [port.v4, port.v6, config?.nextHops.v4, config?.nextHops.v6].find(
    (text) => text !== undefined && text !== '' && [texts.v4, texts.v6].includes(text),
  );
  if (taken !== undefined) return `the external gateway itself has ${taken}; name another address; ${editPod(pod)}`;
  // Objects of a Subnet that was removed by force keep their addresses, and nothing reserves others there.
  for (const text of [texts.v4, texts.v6].filter((one) => one !== '')) {
    const [holder] = world.ask(addressHolder, `${external} ${text}`);
    if (holder === undefined) continue;
    const has = holder.kind === 'pod' ? `Pod ${holder.name}` : `${holder.kind} ${holder.name}`;
    return `${has} has ${text} of Subnet ${external}, which was removed by force; name another address; ${editPod(pod)}`;
  }
  return undefined;
}

/** Without a Subnet, and with tenants that are not kept apart, an address is refused for what has it alone. */
function excludedReason(world: World, external: string): Problem['reason'] {
  return world.ask(subnetView, external) === undefined && world.settings.tenancy === 'open' ? 'AddressConflict' : 'NamespaceNotAdmitted';
}

function annotated({ key }: PodView, use: PodUse, text: string): string {
  return `Pod ${key}: annotation ${POD_USES[use].annotation} "${text}"`;
}

function editPod({ namespace, name }: PodView): string {
  return commandText`${['kubectl', 'edit', 'pod', '-n', nameArgument(namespace), nameArgument(name)]}`;
}

function describePod({ namespace, name }: PodView): string {
  return commandText`${['kubectl', 'describe', 'pod', '-n', nameArgument(namespace), nameArgument(name)]}`;
}
