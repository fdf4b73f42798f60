/** The limits of a pod's interface, of its annotations, in the units of Open vSwitch. */
import type { PodAnnotationSuffix } from '../../../api/well-known.ts';
import type { PortPolicing, PortQueue } from '../../../agent/world/outputs.ts';

export interface PodLimits {
  /** Of what the pod sends. */
  readonly policing?: PortPolicing;
  /** For what it gets. */
  readonly queue?: PortQueue;
  /** Annotations that are set and have no effect beside the rate. */
  readonly ignored?: readonly PodAnnotationSuffix[];
}

export type PodLimitsState =
  | { readonly kind: 'limits'; readonly limits: PodLimits }
  | { readonly kind: 'invalid'; readonly suffix: PodAnnotationSuffix; readonly problem: string };

const KILO = 1_000;
const MEGA = 1_000_000;
/** As Kube-OVN has them, of the rate. */
const DEFAULT_POLICING_BURST = 0.8;
const DEFAULT_QUEUE_BURST = 0.1;

/**
 * A port has one queue, so a rate for what the pod gets comes before latency and loss.
 *
 * @param value of an annotation; empty for none
 */
export function podLimits(value: (suffix: PodAnnotationSuffix) => string): PodLimitsState {
  const numbers = new Map<PodAnnotationSuffix, number>();
  for (const suffix of WHOLE) {
    const text = value(suffix).trim();
    if (text === '') continue;
    if (!/^\d{1,10}$/.test(text)) return { kind: 'invalid', suffix, problem: `is ${JSON.stringify(text)}, no whole number` };
    numbers.set(suffix, Number(text));
  }
  const loss = value('loss').trim();
  if (!/^(?:\d{1,3}(?:\.\d{1,9})?)?$/.test(loss) || Number(loss) > 100)
    return { kind: 'invalid', suffix: 'loss', problem: `is ${JSON.stringify(loss)}, no percentage` };
  const number = (suffix: PodAnnotationSuffix): number => numbers.get(suffix) ?? 0;
  const [sent, received] = [number('egress_rate'), number('ingress_rate')];
  const impairment = {
    kind: 'impairment',
    latency: number('latency') * KILO,
    jitter: number('jitter') * KILO,
    limit: number('limit'),
    loss: Number(loss),
  } as const;
  const isImpaired = impairment.latency + impairment.jitter + impairment.limit + impairment.loss > 0;
  const queue: PortQueue | undefined =
    received > 0
      ? {
          kind: 'rate',
          rate: received * MEGA,
          burst: Math.round((numbers.get('ingress_burst') ?? received * DEFAULT_QUEUE_BURST) * MEGA),
        }
      : isImpaired
        ? impairment
        : undefined;
  const policing =
    sent > 0 ? { rate: sent * KILO, burst: Math.round((numbers.get('egress_burst') ?? sent * DEFAULT_POLICING_BURST) * KILO) } : undefined;
  return {
    kind: 'limits',
    limits: {
      ...(policing === undefined ? {} : { policing }),
      ...(queue === undefined ? {} : { queue }),
      ...(received > 0 && isImpaired ? { ignored: IMPAIRMENTS.filter((suffix) => Number(value(suffix)) > 0) } : {}),
    },
  };
}

const IMPAIRMENTS = ['latency', 'jitter', 'limit', 'loss'] as const;
const WHOLE = ['ingress_rate', 'egress_rate', 'ingress_burst', 'egress_burst', 'latency', 'limit', 'jitter'] as const;
