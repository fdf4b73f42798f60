/** What the agent sees, wants, and what differs: the answer to `kiln agent status`. */
import type { Target } from '../../engine/target.ts';
import type { RequestsTarget } from '../requests/requests-target.ts';
import { deviceOf } from '../world/attachment.ts';
import type { NodeWorld } from '../world/node-world.ts';
import { portKey } from '../world/port-keys.ts';

export const STATUS_PATH = '/kiln/v1/status';

export interface NodeStatus {
  readonly node: string;
  /** What was not read yet, in words: until then nothing is written. */
  readonly waitingFor: readonly string[];
  readonly interfaces: readonly InterfaceStatus[];
  /** Routers that watch this node by BFD, with the state of the session. */
  readonly watchers: readonly { readonly router: string; readonly state: string }[];
  /** Writes that are due, by what they are for. */
  readonly differences: readonly { readonly target: string; readonly writes: readonly unknown[] }[];
  /** Writes that failed and are tried again. */
  readonly failures: readonly { readonly of: string; readonly reason: string }[];
}

export interface InterfaceStatus {
  readonly pod: string;
  readonly interface: string;
  readonly device: string;
  readonly addresses: string;
  readonly state: 'ready' | 'waiting' | 'removing';
  /** Of one that waits: what is missing. */
  readonly reason?: string;
}

export function nodeStatus(node: string, world: NodeWorld, targets: readonly Target[], requests: RequestsTarget): NodeStatus {
  const interfaces = Array.from(world.attachments.entries(), ([, attachment]): InterfaceStatus => {
    const { key, interfaceName, pod, removing } = attachment;
    const device = deviceOf(attachment);
    const [output] = requests.desired.of(key);
    return {
      pod: `${pod.namespace}/${pod.name}`,
      interface: interfaceName,
      device,
      addresses: world.ports.peek(device)?.externalIds[portKey.addresses] ?? '',
      state: removing === true ? 'removing' : output?.answer.kind === 'ready' ? 'ready' : 'waiting',
      ...(output?.answer.kind === 'waiting' ? { reason: output.answer.reason } : {}),
    };
  });
  return {
    node,
    waitingFor: targets.flatMap(({ waitingFor }) => waitingFor),
    interfaces: interfaces.toSorted((a, b) => (a.pod < b.pod ? -1 : 1)),
    watchers: Array.from(world.bfdResponders.entries())
      .flatMap(([, { sessions }]) => Object.entries(sessions).map(([router, state]) => ({ router, state: state ?? '' })))
      .toSorted((a, b) => (a.router < b.router ? -1 : 1)),
    differences: targets.map((target) => ({ target: target.name, writes: target.plan() })).filter(({ writes }) => writes.length > 0),
    failures: Array.from(world.failures.entries(), ([of, reason]) => ({ of, reason })),
  };
}
