/** Faults put into a copy of the agent's rules: each must be found by lives of simulated nodes. */
import type { AgentSeams } from '../../../src/agent/agent.ts';
import { nodeRules } from '../../../src/agent/rules/rules.ts';
import { hostDevice } from '../../../src/agent/world/attachment.ts';
import type { NodeWorld } from '../../../src/agent/world/node-world.ts';
import type { NodeOutput } from '../../../src/agent/world/outputs.ts';
import { portKey } from '../../../src/agent/world/port-keys.ts';
import { SETTINGS } from './simulated-agent.ts';
import type { NodeStep } from './step.ts';

export interface NodeFault {
  readonly name: string;
  /** A fresh copy for each process, so that what a fault remembers ends with it. */
  readonly rules: () => AgentSeams['rules'];
  /** The life that finds it, where drawn lives rarely do. */
  readonly steps?: readonly NodeStep[];
}

type Change = (outputs: readonly NodeOutput[], world: NodeWorld, key: string) => readonly NodeOutput[];

function withRule(rule: string, spoil: () => Change): () => AgentSeams['rules'] {
  return () => {
    const rules = nodeRules(SETTINGS);
    if (!rules.some(({ name }) => name === rule)) throw new RangeError(`there is no rule ${rule}`);
    const change = spoil();
    return rules.map((one) => (one.name === rule ? { ...one, run: (world, key) => change(one.run(world, key), world, key) } : one));
  };
}

function each(change: (output: NodeOutput) => NodeOutput): () => Change {
  return () => (outputs) => outputs.map(change);
}

function without(isLeftOut: (output: NodeOutput) => boolean): () => Change {
  return () => (outputs) => outputs.filter((output) => !isLeftOut(output));
}

/** Emits what it emitted before, in these cases. */
function stale(isStale: (outputs: readonly NodeOutput[]) => boolean): () => Change {
  return () => {
    const last = new Map<string, readonly NodeOutput[]>();
    return (outputs, _world, key) => {
      const before = last.get(key);
      if (before !== undefined && isStale(outputs)) return before;
      last.set(key, outputs);
      return outputs;
    };
  };
}

function isTakenByLater(outputs: readonly NodeOutput[]): boolean {
  return outputs.some(({ kind, ...rest }) => kind === 'answer' && JSON.stringify(rest).includes('came later'));
}

export const NODE_FAULTS: readonly NodeFault[] = [
  {
    name: 'a pod that is not observed, or has wrong annotations, loses its interface',
    rules: withRule(
      'pod-interface',
      without(({ kind }) => kind === 'retained-port' || kind === 'retained-device'),
    ),
  },
  { name: 'an earlier sandbox claims the logical port of a later one', rules: withRule('pod-interface', stale(isTakenByLater)) },
  {
    name: 'an ADD is answered before the interface can be used',
    rules: withRule('pod-interface', () => (outputs) => {
      const device = outputs.find(({ kind }) => kind === 'device');
      return outputs.map((output) =>
        output.kind === 'answer' && output.answer.kind === 'waiting' && device?.kind === 'device'
          ? { ...output, answer: { kind: 'ready', reply: { mac_address: device.mac } } }
          : output,
      );
    }),
  },
  {
    name: 'a DEL is answered when the port is gone, and the link is not',
    rules: withRule('pod-interface', () => (outputs, world, key) => {
      const attachment = world.attachments.get(key);
      if (attachment?.removing !== true || outputs.length > 0) return outputs;
      return [{ kind: 'answer', attachment: attachment.key, answer: { kind: 'removed' } }];
    }),
  },
  {
    name: 'what the runtime has forgotten is never removed',
    // Its outputs stay: without any, the device would be forgotten and looked for again without end.
    rules: withRule('pod-interface', () => (outputs, world, key) => {
      const attachment = world.attachments.get(key);
      const isAbandoned = outputs.some((output) => output.kind === 'answer' && output.answer.kind === 'abandoned');
      if (attachment === undefined || !isAbandoned) return outputs;
      const { containerId, interfaceName, namespacePath } = attachment;
      const name = hostDevice(containerId, interfaceName);
      return [
        { kind: 'retained-port', name },
        { kind: 'retained-device', name, namespacePath, innerName: interfaceName },
      ];
    }),
  },
  {
    name: 'a port does not name its container',
    rules: withRule(
      'pod-interface',
      each((output) => {
        if (output.kind !== 'port') return output;
        const { [portKey.container]: _container, ...externalIds } = output.externalIds;
        return { ...output, externalIds };
      }),
    ),
  },
  {
    name: 'the MTU of the Subnet has no effect',
    rules: withRule(
      'pod-interface',
      each((output) => (output.kind === 'device' ? { ...output, mtu: SETTINGS.mtu } : output)),
    ),
  },
  {
    name: 'a Node that is not observed has no interface of its own',
    rules: withRule(
      'node-interface',
      without(({ kind }) => kind === 'retained-port'),
    ),
    steps: [
      { do: 'pod', name: 'a', second: false, annotateMs: 1, nonsense: false },
      { do: 'converge' },
      { do: 'delete', name: 'a', how: 'graceful' },
      { do: 'short-list', plural: 'nodes', empty: false },
      { do: 'kill', afterWrites: 1, restartMs: 100 },
      { do: 'wait', ms: 200 },
      { do: 'converge', empty: true },
    ],
  },
  {
    name: 'routes to Subnets have no source address',
    rules: withRule(
      'node-interface',
      each((output) =>
        output.kind === 'link'
          ? { ...output, routes: output.routes.map(({ destination, gateway }) => ({ destination, gateway })) }
          : output,
      ),
    ),
  },
  {
    name: 'a change of natOutgoing has no effect',
    rules: withRule(
      'outgoing-nat',
      stale(() => true),
    ),
  },
  {
    name: 'each bridge gets the datapath of the agent',
    rules: withRule('node-bridge', () => (outputs, world) => [
      ...outputs.filter(({ kind }) => kind !== 'bridge'),
      ...['br-int', ...world.bridges.keys()].map((name) => ({ kind: 'bridge', name, datapathType: 'system' }) as const),
    ]),
  },
];
