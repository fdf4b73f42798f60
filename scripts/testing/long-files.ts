/**
 * Test files that take long: approximate seconds alone on a machine of 2026, and the cores that they keep busy meanwhile, so that they
 * begin early and have room. Numbers need not be exact: they decide what runs beside what, never what passes. `npm test` prints both.
 */
export interface LongFile {
  readonly seconds: number;
  /** Includes its child processes; infinite for a file that uses all cores, and so runs alone. Default: one, and less in a quick step. */
  readonly cores?: number;
  /**
   * The file is ended, and fails, after this many minutes: many times its usual duration, so that only a hanging file is ended. Default:
   * 60, and 40 in a quick step.
   */
  readonly minutes?: number;
  /** The number of parts, each a process with `TEST_PART`, such as 2/3; default: one. */
  readonly parts?: number;
  /** Values that differ in `npm run test:long`, where the file does more. */
  readonly long?: { readonly seconds: number; readonly parts?: number };
  /** The file is part of `npm run test:long` only. */
  readonly onlyLong?: true;
  /** The file starts a kube-apiserver: `npm run test:long` runs it on the oldest supported one as well. */
  readonly onBoth?: true;
}

export const LONG_FILES: Readonly<Record<string, LongFile>> = {
  'test/e2e/real.test.ts': { parts: 2, seconds: 500, cores: 0.55, minutes: 120, onBoth: true, long: { seconds: 1500, parts: 3 } },
  'test/e2e/lab.test.ts': { parts: 3, seconds: 700, cores: 0.6, minutes: 120, long: { seconds: 1200, parts: 3 } },
  'test/e2e/ovn-25.03.test.ts': { seconds: 30, cores: 0.6, minutes: 120, long: { seconds: 1200, parts: 3 } },
  'test/chaos/chaos.test.ts': { seconds: 285, cores: 0.7, onlyLong: true, onBoth: true },
  'test/churn/churn.test.ts': { seconds: 230, minutes: 120, onlyLong: true, onBoth: true },
  'test/cluster/cluster.test.ts': { seconds: 900, cores: Number.POSITIVE_INFINITY, minutes: 120, onlyLong: true },
  'test/cluster/families.test.ts': { seconds: 600, cores: Number.POSITIVE_INFINITY, minutes: 120, onlyLong: true },
  'test/cluster/ovn-central.test.ts': { seconds: 100, cores: 0.5, onlyLong: true },
  'test/cluster/ovn-central-upgrade.test.ts': { seconds: 110, cores: 0.5, onlyLong: true },
  'test/cluster/database-keys.test.ts': { seconds: 20 },
  'test/cluster/agent-manifest.test.ts': { seconds: 180, cores: Number.POSITIVE_INFINITY, minutes: 60, onlyLong: true },
  'test/cluster/manifests.test.ts': { seconds: 240, cores: Number.POSITIVE_INFINITY, minutes: 60, onlyLong: true },
  'test/cluster/agent-policy.test.ts': { seconds: 20, cores: 0.5, onlyLong: true },
  'test/package/package.test.ts': { seconds: 20 },
  'test/charts/install.test.ts': { seconds: 120, cores: 0.7 },
  'test/package/executable.test.ts': { seconds: 15 },
  'test/docs/pages.test.ts': { seconds: 25, cores: 0.6 },
  'test/takeover/there-and-back.test.ts': { seconds: 15, long: { seconds: 40 } },
  'test/charts/ordering.test.ts': { seconds: 20, cores: 0.5, long: { seconds: 60 } },
  'test/charts/rendering.test.ts': { seconds: 15, cores: 0.9 },
  'test/packets/nat.test.ts': { seconds: 50, cores: 0.6 },
  'test/packets/external-gateway.test.ts': { seconds: 40, cores: 0.5, onlyLong: true },
  'test/packets/gateway-node.test.ts': { seconds: 90, cores: 0.6, onlyLong: true },
  'test/packets/interconnection.test.ts': { seconds: 40, cores: 0.5, onlyLong: true },
  'test/packets/outgoing.test.ts': { seconds: 80, cores: 0.4, onlyLong: true },
  'test/cluster/kills.test.ts': { seconds: 500, cores: Number.POSITIVE_INFINITY, minutes: 120, onlyLong: true },
  'test/sim/known-faults.test.ts': { seconds: 120, cores: Number.POSITIVE_INFINITY, onlyLong: true },
  'test/sim/seeds.test.ts': { seconds: 36, cores: Number.POSITIVE_INFINITY, minutes: 90, long: { seconds: 250 } },
  'test/sim/sim.test.ts': { seconds: 30 },
  'test/sim/node/node.test.ts': { seconds: 8, long: { seconds: 250 } },
  'test/sim/node/programs.test.ts': { seconds: 5, cores: 0.5 },
  'test/sim/node/known-faults.test.ts': { seconds: 60, onlyLong: true },
  'test/bench/json.test.ts': { seconds: 45, cores: 0.45, long: { seconds: 158 } },
  'test/conformance/real.test.ts': { seconds: 120, cores: 0.3, onBoth: true },
  'test/takeover/takeover.test.ts': { seconds: 75, cores: 0.5 },
  'test/mutations/dangling-references.test.ts': { seconds: 66, cores: 0.05 },
  'test/mutations/mutations.test.ts': { seconds: 75, cores: 0.25 },
  'test/conformance/side-by-side.test.ts': { seconds: 70, cores: 0.5, onBoth: true },
  'test/conformance/guide-manifests.test.ts': { seconds: 55, cores: 0.45, onBoth: true },
  'test/conformance/lab.test.ts': { seconds: 55, cores: 0.4 },
  'test/conformance/crds.test.ts': { seconds: 40, cores: 0.4, onBoth: true },
  'test/conformance/list-watch.test.ts': { seconds: 35, cores: 0.3, onBoth: true },
  'test/conformance/lab-crash.test.ts': { seconds: 40, cores: 0.35 },
  'src/controller/faulty-api-server.test.ts': { seconds: 130, cores: 0.1 },
  'lab/workloads/stand-in-controllers.test.ts': { seconds: 35, cores: 0.5 },
  'lab/real-cluster/real-cluster.test.ts': { seconds: 30, cores: 0.35 },
  'src/ovsdb/differential.test.ts': { seconds: 25, cores: 0.25 },
  'src/webhook/server/webhook-memory.test.ts': { seconds: 25, cores: 0.25 },
  'src/cli/commands/delete.test.ts': { seconds: 27 },
  'src/cli/commands/smoke.test.ts': { seconds: 30, cores: 0.6 },
  'src/ipam/ledger-life.property.test.ts': { seconds: 20, cores: 0.8 },
  'src/controller/leadership/catch-up.test.ts': { seconds: 20, cores: 0.2 },
  'src/cli/commands/diff.test.ts': { seconds: 20 },
  'src/ovsdb/reconnect.test.ts': { seconds: 15, cores: 0.1 },
};
