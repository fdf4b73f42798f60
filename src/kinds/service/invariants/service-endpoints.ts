/** The endpoints of a Service by the Vpc that each one is in, from objects and rows alone. */
import type { Endpoint, EndpointSlice, Protocol, Service } from '../../../api/kubernetes/core.ts';
import { annotationKey, podAnnotation } from '../../../api/well-known.ts';
import { formatAddress, parseAddress } from '../../../net/address.ts';
import { splitList } from '../../../net/dual.ts';
import type { World } from '../../../world/world.ts';

export interface PlainEndpoint {
  readonly address: string;
  readonly portName: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
}

/** A Service without endpoints is in the Vpc that it belongs to. */
export function endpointsByVpc(
  world: World,
  service: Service,
  slices: readonly EndpointSlice[],
): ReadonlyMap<string, readonly PlainEndpoint[]> {
  const own = ownVpc(world, service);
  const placed = slices.flatMap((slice) =>
    (slice.addressType === 'FQDN' ? [] : (slice.endpoints ?? [])).flatMap((endpoint) => {
      const vpc = own.forAll ? own.vpc : (vpcOfPod(world, endpoint) ?? own.vpc);
      return plainEndpoints(endpoint, slice).map((plain) => ({ vpc, plain }));
    }),
  );
  if (placed.length === 0) return new Map([[own.vpc, []]]);
  return new Map([...Map.groupBy(placed, ({ vpc }) => vpc)].map(([vpc, all]) => [vpc, all.map(({ plain }) => plain)]));
}

/** One for each port of its slice. */
function plainEndpoints(endpoint: Endpoint, { ports }: EndpointSlice): readonly PlainEndpoint[] {
  const address = canonical(endpoint.addresses[0] ?? '');
  if (address === undefined) return [];
  const { ready = true, serving = true, terminating = false } = endpoint.conditions ?? {};
  return (ports ?? []).flatMap(({ name, protocol, port }) =>
    typeof port === 'number' ? [{ address, portName: name ?? '', protocol: protocol ?? 'TCP', port, ready, serving, terminating }] : [],
  );
}

/** The Vpc of the Subnet in which an endpoint's pod, or the machine in it, has the endpoint's address. */
function vpcOfPod(world: World, { addresses, targetRef }: Endpoint): string | undefined {
  if (targetRef?.kind !== 'Pod') return undefined;
  const { namespace = '', name = '' } = targetRef;
  const machine = world.pods.peek(`${namespace}/${name}`)?.metadata.ownerReferences?.find(({ kind }) => kind === 'VirtualMachineInstance');
  const address = canonical(addresses[0] ?? '');
  // By name, so that of two interfaces with one address the pod's own comes first.
  for (const [, { spec }] of [...world.ips.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const isOfPod = spec.namespace === namespace && (spec.podName === name || (machine !== undefined && spec.podName === machine.name));
    if (!isOfPod) continue;
    const held = [spec.ipAddress, spec.v4IpAddress, spec.v6IpAddress].flatMap((text) => splitList(text ?? '')).map(canonical);
    const subnet = world.subnets.peek(spec.subnet ?? '');
    if (held.includes(address) && subnet !== undefined) return vpcOfSubnet(world, subnet);
  }
  return undefined;
}

type Subnet = NonNullable<ReturnType<World['subnets']['peek']>>;

/** The Vpc whose router it has a port in, where it has one: an edit of a Subnet in use does not move it. */
function vpcOfSubnet(world: World, { metadata: { name, uid }, spec }: Subnet): string {
  for (const id of world.rows.ownedBy(`subnet//${name}`)) {
    const port = world.rows.best(id);
    if (port?.table !== 'Logical_Router_Port' || port.ownership.kind !== 'ours' || port.ownership.uid !== uid) continue;
    const router = port.parent === undefined ? undefined : world.rows.entry(port.parent.uuid)?.row['name'];
    if (typeof router === 'string') return router;
  }
  return (spec.vpc ?? '') === '' ? world.settings.defaultVpc : (spec.vpc as string);
}

/** The one that it names in its annotations, else that of its Namespace. */
function ownVpc(
  world: World,
  { metadata: { namespace = '', annotations = {} } }: Service,
): { readonly vpc: string; readonly forAll: boolean } {
  const router = annotations[podAnnotation('ovn', 'logical_router')] ?? '';
  if (router !== '' && (annotations[podAnnotation('ovn', 'logical_switch')] ?? '') !== '') return { vpc: router, forAll: true };
  const named = annotations[annotationKey.vpc] ?? '';
  if (named !== '') return { vpc: named, forAll: false };
  const [first = ''] = splitList(world.namespaces.peek(namespace)?.metadata.annotations?.[podAnnotation('ovn', 'logical_switch')] ?? '');
  const subnet = world.subnets.peek(first);
  return { vpc: subnet === undefined ? world.settings.defaultVpc : vpcOfSubnet(world, subnet), forAll: false };
}

function canonical(text: string): string | undefined {
  const address = parseAddress(text);
  return address === undefined ? undefined : formatAddress(address);
}
