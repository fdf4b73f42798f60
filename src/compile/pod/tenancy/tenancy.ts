/**
 * The IPPools and the Subnets of external Vpcs that a namespace may use, and with the setting `tenancy: namespaced` also the other Subnets and attached networks. What a tenant
 * can write (pods, labels, definitions of networks) never extends them: only IPPools, Subnets and Vpcs list the namespaces that they admit.
 */
import { selectorMatches } from '../../../api/kubernetes/label-selector.ts';
import type { Labels, LabelSelector } from '../../../api/kubernetes/meta.ts';
import { attachmentOfProvider, subnetProvider } from '../../../api/names.ts';
import type { Reason } from '../../../api/reasons.ts';
import { kilnAnnotation } from '../../../api/well-known.ts';
import type { Address } from '../../../net/address.ts';
import { parseAddress } from '../../../net/address.ts';
import { splitList } from '../../../net/dual.ts';
import { subnetIntent, vpcIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { ipPoolAddresses } from '../../ip/ip-pool-subnet.ts';
import { namespaceFacts } from '../../namespace/namespace-binding.ts';
import { subnetBasics } from '../../subnet/validity/spec-in-effect.ts';
import { providerSubnets } from '../../subnet/validity/subnet-view.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { commandText, nameArgument } from '../../../text/command-text.ts';

/** All namespaces may use networks defined in this one, as with the namespace isolation of Multus (`globalNamespaces`). */
const SHARED_NETWORKS = 'default';

/** Why a namespace may not use it. */
export interface Exclusion {
  readonly reason: Extract<Reason, 'NamespaceNotAdmitted'>;
  readonly message: string;
}

interface Admitted {
  /** Annotation `kiln.io/admit-namespaces`. */
  readonly named: readonly string[];
  readonly namespaces: readonly string[];
  readonly selectors: readonly LabelSelector[];
  readonly vpc: string;
  /** Namespaces of its Vpc; empty if the Vpc lists none, and in the default Vpc. */
  readonly vpcNamespaces: readonly string[];
  /** Whether it is the default Subnet of its Vpc, for the Vpc's namespaces. */
  readonly isVpcDefault: boolean;
  /** Whether it shows a switch of another program: only for namespaces in that annotation. */
  readonly isOfOthers: boolean;
  /** Whether it is an external network of the cluster: only for listed namespaces. */
  readonly isExternal: boolean;
  /** The namespace that defines the network it serves; empty if there is none, and for a shared network. */
  readonly networkOf: string;
}

/** Undefined if there is no such Subnet. */
const admittedBy: Query<Admitted | undefined> = defineQuery('subnet-admission', (world, name) => {
  const intent = world.ask(subnetIntent, name);
  const basics = world.ask(subnetBasics, name);
  if (intent === undefined || basics === undefined) return undefined;
  const vpc = basics.isOvn && !basics.inDefaultVpc ? world.ask(vpcIntent, basics.vpc)?.spec : undefined;
  const network = attachmentOfProvider(basics.provider)?.namespace ?? '';
  return {
    named: splitList(intent.metadata.annotations?.[kilnAnnotation.admitNamespaces] ?? ''),
    namespaces: intent.spec.namespaces ?? [],
    selectors: intent.spec.namespaceSelectors ?? [],
    vpc: basics.vpc,
    vpcNamespaces: vpc?.namespaces ?? [],
    isVpcDefault: vpc?.defaultSubnet === name,
    isOfOthers: basics.external,
    isExternal: name === world.settings.externalSubnet,
    networkOf: network === SHARED_NETWORKS ? '' : network,
  };
});

/** Why the pods of a namespace may not be in a Subnet; undefined if they may, or there is no such Subnet. */
export function excludedFromSubnet(world: World, namespace: string, subnet: string): Exclusion | undefined {
  if (world.settings.tenancy === 'open' && world.ask(subnetBasics, subnet)?.external !== true) return undefined;
  const admitted = world.ask(admittedBy, subnet);
  if (admitted === undefined) return undefined;
  const why = obstacleOf(admitted, namespace, world.ask(namespaceFacts, namespace)?.labels ?? {});
  if (why === undefined) return undefined;
  const { problem, object, field } = why;
  return exclusion(
    `Subnet ${subnet} does not admit Namespace ${namespace}: ${problem}; name a Subnet of the namespace, or have an administrator add it to ${field}: ${commandText`kubectl edit ${object === '' ? ['subnet', nameArgument(subnet)] : ['vpc', nameArgument(object)]}`}`,
  );
}

interface Obstacle {
  readonly problem: string;
  /** Kind and name; empty for the Subnet itself. */
  readonly object: string;
  readonly field: string;
}

/** The message does not name other tenants. */
function obstacleOf(admitted: Admitted, namespace: string, labels: Labels): Obstacle | undefined {
  const { named, namespaces, selectors, vpc, vpcNamespaces, isVpcDefault, isOfOthers, isExternal, networkOf } = admitted;
  if (named.includes(namespace)) return undefined;
  if (isOfOthers)
    return { problem: 'it shows a switch of another program', object: '', field: `annotation ${kilnAnnotation.admitNamespaces}` };
  const ofVpc = vpcNamespaces.includes(namespace);
  if (vpcNamespaces.length > 0 && !ofVpc)
    return {
      problem: `spec.namespaces of its Vpc ${vpc} does not list it`,
      object: vpc,
      field: 'spec.namespaces',
    };
  if (named.length + namespaces.length + selectors.length > 0) {
    const listed = namespaces.includes(namespace) || selectors.some((selector) => selectorMatches(selector, labels));
    if (listed || (ofVpc && isVpcDefault)) return undefined;
    return {
      problem: 'its spec.namespaces does not list it',
      object: '',
      field: `spec.namespaces or annotation ${kilnAnnotation.admitNamespaces}`,
    };
  }
  if (isExternal)
    return { problem: 'it has the external addresses of gateways', object: '', field: `annotation ${kilnAnnotation.admitNamespaces}` };
  if (networkOf === '' || networkOf === namespace) return undefined;
  return { problem: 'it serves a network of another namespace', object: '', field: `annotation ${kilnAnnotation.admitNamespaces}` };
}

/**
 * Why a pod may not attach the network of an interface: another namespace defines it, not `default`, and no Subnet with its addresses
 * admits the pod's namespace. Names with dots can make a provider look like that of another definition: both count.
 */
export function excludedFromNetwork(world: World, { pod, provider, selection }: PodInterface): Exclusion | undefined {
  if (world.settings.tenancy === 'open') return undefined;
  const network = attachmentOfProvider(subnetProvider(provider));
  const homes = [network?.namespace ?? '', selection?.namespace ?? ''];
  if (homes.every((home) => home === '' || home === pod.namespace || home === SHARED_NETWORKS)) return undefined;
  const subnets = providerSubnets(world, subnetProvider(provider));
  if (subnets.some((subnet) => excludedFromSubnet(world, pod.namespace, subnet) === undefined)) return undefined;
  const [first] = subnets;
  const next = first === undefined ? 'kubectl get subnets' : commandText`kubectl edit subnet ${first}`;
  const name = selection === undefined ? provider : `${selection.namespace}/${selection.name}`;
  return exclusion(
    `network ${name} belongs to another namespace, and no Subnet of it admits Namespace ${pod.namespace}; define a network in the namespace or in Namespace ${SHARED_NETWORKS}, or have an administrator add the namespace to annotation ${kilnAnnotation.admitNamespaces} of its Subnet: ${next}`,
  );
}

/** Why a pod may not use addresses of an IPPool, with either tenancy: its list of namespaces would have no effect otherwise. */
export function excludedFromPool(world: World, namespace: string, pool: string): Exclusion | undefined {
  if (!excludes(world.ask(poolNamespaces, pool), namespace)) return undefined;
  return exclusion(
    `IPPool ${pool} does not admit Namespace ${namespace}: its spec.namespaces does not list it; name another IPPool, or have an administrator add the namespace there: ${commandText`kubectl edit ippool ${pool}`}`,
  );
}

/** Why a pod may not have an address, with either tenancy: an IPPool reserves it for other namespaces. Empty texts are no addresses. */
export function excludedFromAddress(world: World, namespace: string, subnet: string, texts: readonly string[]): Exclusion | undefined {
  for (const text of texts) {
    const address = parseAddress(text);
    const pool = address === undefined ? undefined : excludingPoolOf(world, namespace, subnet, address);
    if (pool !== undefined)
      return exclusion(
        `address ${text} is of IPPool ${pool}, whose spec.namespaces does not list Namespace ${namespace}; request another address, or have an administrator add the namespace there: ${commandText`kubectl edit ippool ${pool}`}`,
      );
  }
  return undefined;
}

/** The first IPPool, by name, that has the address and is for other namespaces. */
export function excludingPoolOf(world: World, namespace: string, subnet: string, { family, value }: Address): string | undefined {
  return [...world.ipPools.bucket('subnet', subnet)]
    .toSorted()
    .find((pool) => excludes(world.ask(poolNamespaces, pool), namespace) && world.ask(ipPoolAddresses, pool)[family].contains(value));
}

const poolNamespaces: Query<readonly string[]> = defineQuery(
  'ippool-namespaces',
  (world, name) => world.ipPools.get(name)?.spec.namespaces ?? [],
);

function excludes(namespaces: readonly string[], namespace: string): boolean {
  return namespaces.length > 0 && !namespaces.includes(namespace);
}

function exclusion(message: string): Exclusion {
  return { reason: 'NamespaceNotAdmitted', message };
}
