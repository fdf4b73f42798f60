/** Size and duration of each benchmark: the sizes of its targets, and the smallest ones, which only show that it works. */
import type { BindOptions } from './bind.ts';
import type { SelectionsOptions } from './selections.ts';

export interface Sizes {
  readonly bind: readonly BindOptions[];
  readonly audit: { readonly pods: readonly number[] };
  readonly restart: { readonly pods: readonly number[] };
  readonly change: {
    /** Few, and many. */
    readonly pods: readonly [number, number];
    /** Each takes a second, the pace of writes to a Subnet's status. */
    readonly changes: number;
  };
  readonly idle: { readonly pods: number; readonly seconds: number };
  readonly churn: { readonly rates: readonly number[]; readonly seconds: number };
  readonly ovsdb: { readonly rows: readonly number[]; readonly written: number; readonly latencyPorts: number };
  readonly ipam: {
    /** Undefined: all. */
    readonly cases: readonly string[];
  };
  /**
   * Least and largest sizes are compared; a cluster has ten pods at least. `restSeconds`: how long nothing happens before it is measured.
   */
  readonly memory: { readonly pods: readonly number[]; readonly restSeconds: number };
  readonly nat: {
    /** Few, and many. */
    readonly eips: readonly [number, number];
    readonly changes: number;
    readonly churned: number;
  };
  readonly selections: SelectionsOptions;
  readonly gc: { readonly owned: number; readonly foreign: number; readonly unexplained: number; readonly rounds: number };
  readonly journal: { readonly rows: number; readonly rounds: number };
  readonly cni: {
    /** Pods one after another, at once, and in all when the agent is at rest. */
    readonly alone: number;
    readonly together: number;
    readonly standing: number;
    readonly restSeconds: number;
    /** Pods of the Deployment on a real node, and how often each network gets them. */
    readonly scaled: number;
    readonly rounds: number;
  };
  readonly traffic: { readonly rounds: number; readonly seconds: number; readonly pings: number };
}

export const FULL: Sizes = {
  bind: [
    { pods: 2_000, namespaces: 1, nodes: 4, interfaces: 1 },
    { pods: 10_000, namespaces: 20, nodes: 50, interfaces: 1 },
  ],
  audit: { pods: [5_000, 50_000] },
  restart: { pods: [10_000, 50_000] },
  change: { pods: [1_000, 50_000], changes: 60 },
  idle: { pods: 10_000, seconds: 30 },
  churn: { rates: [25, 50, 100], seconds: 15 },
  ovsdb: { rows: [25_000, 100_000], written: 10_000, latencyPorts: 20_000 },
  ipam: { cases: [] },
  memory: { pods: [10, 1_000, 10_000, 50_000], restSeconds: 20 },
  gc: { owned: 100_000, foreign: 100_000, unexplained: 1_000, rounds: 5 },
  journal: { rows: 10_000, rounds: 3 },
  nat: { eips: [10, 10_000], changes: 40, churned: 1_000 },
  selections: { pods: [1_000, 50_000], policies: [20, 1_000], addresses: [2_000, 10_000, 50_000] },
  cni: { alone: 30, together: 50, standing: 100, restSeconds: 60, scaled: 40, rounds: 3 },
  traffic: { rounds: 5, seconds: 4, pings: 300 },
};

export const QUICK: Sizes = {
  bind: [
    { pods: 40, namespaces: 1, nodes: 2, interfaces: 1 },
    { pods: 60, namespaces: 2, nodes: 3, interfaces: 1 },
  ],
  audit: { pods: [60] },
  restart: { pods: [60] },
  change: { pods: [20, 40], changes: 3 },
  idle: { pods: 40, seconds: 3 },
  churn: { rates: [10], seconds: 3 },
  ovsdb: { rows: [1_000, 2_000], written: 300, latencyPorts: 600 },
  ipam: { cases: ['v4'] },
  memory: { pods: [10, 60], restSeconds: 1 },
  gc: { owned: 300, foreign: 300, unexplained: 20, rounds: 2 },
  journal: { rows: 300, rounds: 1 },
  nat: { eips: [3, 30], changes: 3, churned: 12 },
  selections: { pods: [100, 1_000], policies: [2, 20], addresses: [100, 1_000] },
  cni: { alone: 2, together: 3, standing: 5, restSeconds: 2, scaled: 2, rounds: 1 },
  traffic: { rounds: 1, seconds: 1, pings: 10 },
};
