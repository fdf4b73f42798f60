/** The World of one node, its desired state, and its rules: what another program with the same engine has. */
import type { Pod } from '../../api/kubernetes/core.ts';
import type { ObjectOf } from '../../api/schema/kind.ts';
import type { subnetKind } from '../../api/kinds/subnet.ts';
import type { Rule } from '../compiler.ts';
import { KeyedOutputs } from '../keyed-outputs.ts';
import { Outputs } from '../outputs.ts';
import { table as podTable } from '../../kinds/pod/table.ts';
import { table as subnetTable } from '../../kinds/subnet/table.ts';
import { AnyWorld, defineQuery } from '../any-world.ts';
import { keysOf, ONCE } from '../domain.ts';
import { openTable } from '../../world/kind-table.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { Table } from '../table.ts';
import type { Link, Route } from './fake-kernel.ts';

export const NODE = 'n1';
export const JOIN_LINK = 'ovn0';
const JOIN_GATEWAY = '100.64.0.1';

export class NodeWorld extends AnyWorld {
  readonly pods: Table<Pod> = openTable(this.reactor, 'pods', podTable, DEFAULT_SETTINGS);
  readonly subnets: Table<ObjectOf<typeof subnetKind>> = openTable(this.reactor, 'subnets', subnetTable, DEFAULT_SETTINGS);
  /** By name. */
  readonly links = new Table<Link>(this.reactor, 'links');
  /** By `routeKey`. */
  readonly routes = new Table<Route>(this.reactor, 'routes');
  /** By identity of an output: why it is not carried out. */
  readonly problems = new Table<string>(this.reactor, 'problems');
}

export function routeKey({ to, protocol }: Pick<Route, 'to' | 'protocol'>): string {
  return `${to} ${protocol}`;
}

export interface LinkOutput {
  readonly kind: 'link';
  readonly name: string;
  readonly mtu: number;
}

export interface RouteOutput {
  readonly kind: 'route';
  readonly to: string;
  readonly via: string;
  readonly dev: string;
}

export interface ProblemOutput {
  readonly kind: 'problem';
  readonly pod: string;
  readonly message: string;
}

export type KernelOutput = LinkOutput | RouteOutput;
export type NodeOutput = KernelOutput | ProblemOutput;

export function kernelId(output: KernelOutput): string {
  return output.kind === 'link' ? `link/${output.name}` : `route/${output.to}`;
}

/** The desired state of a node: one part for the kernel, one for the reports about pods. */
export class NodeDesired extends Outputs<NodeOutput> {
  readonly kernel: KeyedOutputs<KernelOutput>;
  readonly problems: KeyedOutputs<ProblemOutput>;

  constructor() {
    const kernel = new KeyedOutputs<KernelOutput>(['link', 'route'], kernelId);
    const problems = new KeyedOutputs<ProblemOutput>(['problem'], ({ pod }) => pod);
    super([kernel, problems]);
    this.kernel = kernel;
    this.problems = problems;
  }
}

type NodeRule = Rule<NodeWorld, NodeOutput>;

/** Whether routes can be made through the join link: reads the link's flags alone. */
const joinIsUp = defineQuery('join-is-up', ({ links }: NodeWorld) => links.get(JOIN_LINK)?.up === true);

const joinLink: NodeRule = {
  name: 'join-link',
  over: () => ONCE,
  run: () => [{ kind: 'link', name: JOIN_LINK, mtu: 1400 }],
};

/** A pod's link, and a report if it cannot be had. */
const podLink: NodeRule = {
  name: 'pod-link',
  over: ({ pods }) => keysOf(pods, ({ spec }) => spec.nodeName === NODE),
  run: ({ problems }, pod) => {
    const link: LinkOutput = { kind: 'link', name: linkOfPod(pod), mtu: 1400 };
    const message = problems.get(kernelId(link));
    return message === undefined ? [link] : [link, { kind: 'problem', pod, message }];
  },
};

/** Routes to a Subnet, once the link is observed that they need. */
const subnetRoute: NodeRule = {
  name: 'subnet-route',
  over: ({ subnets }) => keysOf(subnets),
  run: (world, subnet) => {
    if (!world.ask(joinIsUp, '')) return [];
    const networks = (world.subnets.get(subnet)?.spec.cidrBlock ?? '').split(',').filter((network) => network !== '');
    return networks.map((to) => ({ kind: 'route', to, via: JOIN_GATEWAY, dev: JOIN_LINK }));
  },
};

export const NODE_RULES: readonly NodeRule[] = [joinLink, podLink, subnetRoute];

export function linkOfPod(pod: string): string {
  return `veth-${pod.replace('/', '.')}`;
}
