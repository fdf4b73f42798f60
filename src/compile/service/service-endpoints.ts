/** The endpoints of a Service: the union of its slices, and which of them get packets. */
import type { Endpoint, EndpointSlice, Protocol } from '../../api/kubernetes/core.ts';
import type { Family } from '../../net/address.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import { API_SERVER, defineQuery } from '../../world/world.ts';
import type { Query, World } from '../../world/world.ts';

/** `last`: terminating, and still serving: it gets packets where no other endpoint is ready. */
type EndpointState = 'ready' | 'last' | 'unready';

export interface ServiceEndpoint {
  /** Canonical. */
  readonly address: string;
  readonly family: Family;
  /** Name of the port of the Service that it is for. */
  readonly portName: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly state: EndpointState;
  /** `namespace/name` of its pod; empty for none. */
  readonly pod: string;
}

/** Whether endpoints are observed at all: the API server itself makes a slice for its own Service. */
export const endpointsObserved: Query<boolean> = defineQuery(
  'endpoints-observed',
  (world) => world.endpointSlices.bucket('service', API_SERVER).size > 0,
);

/** All endpoints, each address and port once, by address. An address in two slices is as the better one has it. */
export const serviceEndpoints: Query<readonly ServiceEndpoint[]> = defineQuery('service-endpoints', (world, key) => {
  const found = new Map<string, ServiceEndpoint>();
  for (const slice of world.endpointSlices.select('service', key))
    for (const one of endpointsOf(slice)) {
      const at = `${one.protocol} ${one.portName} ${one.address} ${one.port}`;
      const other = found.get(at);
      if (other === undefined || RANK[one.state] < RANK[other.state]) found.set(at, one);
    }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
});

const RANK: Readonly<Record<EndpointState, number>> = { ready: 0, last: 1, unready: 2 };

function endpointsOf({ addressType, endpoints, ports }: EndpointSlice): readonly ServiceEndpoint[] {
  if (addressType === 'FQDN') return [];
  return (endpoints ?? []).flatMap((endpoint) =>
    // The API allows several addresses, and all programs use the first one alone.
    endpoint.addresses.slice(0, 1).flatMap((text) => {
      const parsed = parseAddress(text);
      if (parsed === undefined) return [];
      const { family } = parsed;
      const shared = { address: formatAddress(parsed), family, state: stateOf(endpoint), pod: podOf(endpoint) };
      return (ports ?? []).flatMap(({ name: portName, protocol, port }) =>
        // The API server writes null for absent fields of an old slice.
        typeof port === 'number' ? [{ ...shared, portName: portName ?? '', protocol: protocol ?? 'TCP', port }] : [],
      );
    }),
  );
}

/** As kube-proxy reads it: absent `ready` and `serving` are true. */
function stateOf({ conditions }: Endpoint): EndpointState {
  const { ready, serving, terminating } = conditions ?? {};
  if (ready ?? true) return 'ready';
  return (serving ?? true) && terminating === true ? 'last' : 'unready';
}

function podOf({ targetRef }: Endpoint): string {
  return targetRef?.kind === 'Pod' ? `${targetRef.namespace ?? ''}/${targetRef.name ?? ''}` : '';
}

/** Those that get packets: the ready ones, and where there is none, those that are terminating and still serve. */
export function usable<E extends Pick<ServiceEndpoint, 'state'>>(endpoints: readonly E[]): readonly E[] {
  const ready = endpoints.filter(({ state }) => state === 'ready');
  return ready.length > 0 ? ready : endpoints.filter(({ state }) => state === 'last');
}

/** Whether Kiln carries Services: load balancing is on, and endpoints are observed. */
export function carriesServices(world: World): boolean {
  return world.settings.enableLb && world.ask(endpointsObserved, '');
}
