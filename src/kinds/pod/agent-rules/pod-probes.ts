/** The probes in the spec of a pod. Pure. */
import type { Probe } from '../../../agent/world/probe.ts';

type PortReference = number | string;
interface HttpGet {
  readonly host?: string;
  readonly port?: PortReference;
  readonly scheme?: string;
  readonly path?: string;
  readonly httpHeaders?: readonly { readonly name?: string; readonly value?: string }[];
}
interface Handler {
  readonly httpGet?: HttpGet;
  readonly tcpSocket?: { readonly host?: string; readonly port?: PortReference };
  readonly grpc?: { readonly port?: number };
  readonly periodSeconds?: number;
}
interface Container {
  readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
  readonly livenessProbe?: Handler;
  readonly readinessProbe?: Handler;
  readonly startupProbe?: Handler;
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler };
}
/** The part of the spec of a pod that has probes. */
export interface ProbedSpec {
  readonly containers?: readonly Container[];
  /** Those that stay have probes as well. */
  readonly initContainers?: readonly Container[];
}

/** Of one pod: it has as many listeners on the node. */
const MOST_PROBES = 64;
/** What kubelet takes where a probe says nothing. */
const PERIOD_SECONDS = 10;

/** A probe with a host of its own is left out: it is not sent to the pod. */
export function podProbes({ containers = [], initContainers = [] }: ProbedSpec): readonly Probe[] {
  return [...containers, ...initContainers].flatMap(probesOf).slice(0, MOST_PROBES);
}

function probesOf(container: Container): readonly Probe[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  return handlers.flatMap((handler): readonly Probe[] => {
    const { httpGet, tcpSocket, grpc, periodSeconds = PERIOD_SECONDS } = handler ?? {};
    const port = portOf(httpGet?.port ?? tcpSocket?.port ?? grpc?.port, container);
    if (port === undefined || (httpGet?.host ?? tcpSocket?.host ?? '') !== '') return [];
    if (httpGet !== undefined)
      return [
        {
          kind: 'http',
          port,
          tls: httpGet.scheme?.toUpperCase() === 'HTTPS',
          path: httpGet.path ?? '',
          headers: (httpGet.httpHeaders ?? []).map(({ name = '', value = '' }) => [name, value] as const),
        },
      ];
    return [tcpSocket === undefined ? { kind: 'grpc', port } : { kind: 'tcp', port, periodMs: Math.max(1, periodSeconds) * 1_000 }];
  });
}

/** By number, or by the name of a port of the container. */
function portOf(reference: PortReference | undefined, { ports = [] }: Container): number | undefined {
  const named = ports.find(({ name }) => name === reference)?.containerPort;
  const port = named ?? Number(reference ?? 0);
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
}
