/**
 * Faults of the kind that other controllers had, put into a copy of the rules: each replaces one rule by one that is wrong. The
 * simulator has to find them; that is what it is for. As long as it is because it is a catalogue: what there is, at one look.
 */
import { annotationKey, DEFAULT_SUBNET, kilnAnnotation, podAnnotation } from '../../../src/api/well-known.ts';
import { Fence } from '../../../src/commit/fence.ts';
import { WriteDelays } from '../../../src/commit/write-delays.ts';
import type { Rule } from '../../../src/compile/compiler.ts';
import type { ColumnValue, Output, PatchOutput, RowOutput } from '../../../src/compile/output.ts';
import { RULES } from '../../../src/compile/rules.ts';
import { EventRecorder } from '../../../src/kube/event-recorder.ts';
import { KubeWriter } from '../../../src/kube/kube-writer.ts';
import { LeaderElection } from '../../../src/kube/leader-election.ts';
import type { Dependency } from '../../../src/blockers/dependency.ts';
import { DEPENDENCIES } from '../../../src/blockers/dependencies.ts';
import { Occupancy } from '../../../src/ipam/occupancy.ts';
import { Ledger } from '../../../src/ipam/ledger.ts';
import type { IP } from '../../../src/api/kinds/ip.ts';
import { rowId } from '../../../src/nb/row-id.ts';
import type { World } from '../../../src/world/world.ts';
import { LIES } from '../draw/forged-annotations.ts';

export interface KnownFault {
  readonly name: string;
  /** Cases of the same kind, where there are. */
  readonly like?: string;
  /** A fresh copy for each process: what a fault remembers goes with it. */
  readonly rules: () => readonly Rule[];
  /** A seed with which its search begins, where it is found soon; where none is given, a fresh one. */
  readonly seed?: number;
  /** What is drawn in its lives; with a seed all but `draw-pointed.ts` and what came after it, where nothing is said. */
  readonly draws?: 'seldom' | 'crowds' | 'all';
  /** Puts in a fault that is not in a rule. @returns takes it out again */
  readonly beneath?: () => () => void;
}

type Spoil = (outputs: readonly Output[], world: World, key: string) => readonly Output[];

/** The rules with one of them spoilt. */
function spoilt(rule: string, spoil: () => Spoil): () => readonly Rule[] {
  if (!RULES.some(({ name }) => name === rule)) throw new RangeError(`there is no rule ${rule}`);
  return () => {
    const how = spoil();
    return RULES.map((one) => (one.name === rule ? { ...one, run: (world, key) => how(one.run(world, key), world, key) } : one));
  };
}

function patches(outputs: readonly Output[], change: (patch: PatchOutput) => PatchOutput): readonly Output[] {
  return outputs.map((output) => (output.kind === 'patch' ? change(output) : output));
}

function columns(outputs: readonly Output[], change: (of: RowOutput['columns']) => RowOutput['columns']): readonly Output[] {
  return outputs.map((output) =>
    output.kind === 'row' ? { ...output, columns: { ...output.columns, ...change(output.columns) } } : output,
  );
}

function first(value: ColumnValue | undefined): ColumnValue {
  return Array.isArray(value) ? (value as readonly string[]).slice(0, 1) : [];
}

const letsGoEarly: Spoil = (outputs, world, key) => {
  const going = (world.subnets.get(key) ?? world.vpcs.get(key))?.metadata.deletionTimestamp !== undefined;
  return going ? patches(outputs, ({ conditions: _conditions, ...patch }) => ({ ...patch, finalizer: false })) : outputs;
};

/** Without a condition. */
function untold(rule: string, type: string): () => readonly Rule[] {
  return spoilt(
    rule,
    () => (outputs) => patches(outputs, (patch) => ({ ...patch, conditions: (patch.conditions ?? []).filter((one) => one.type !== type) })),
  );
}

const silent: Spoil = () => [];

/** Replaces a method of a class. @returns puts the old one back */
function replaced<T extends object, K extends keyof T>(prototype: T, name: K, by: (before: T[K]) => T[K]): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
  Object.defineProperty(prototype, name, { ...descriptor, value: by(descriptor.value as T[K]) });
  return () => void Object.defineProperty(prototype, name, descriptor);
}

/** Whoever has the name goes with the one who leaves: a port's name, without the uid of its pod. */
function releaseByName(): () => void {
  const nameOf = (claimant: string): string => claimant.split('#')[0] ?? '';
  return replaced(
    Ledger.prototype,
    'release',
    (release) =>
      function (this: Ledger, kind, key, subnet) {
        const all = kind === 'reservation' ? [] : [...this.bindings(kind, key)];
        for (const [place, { addresses }] of all) {
          for (const address of addresses) {
            const holders = this.holdersOf(place, address);
            const leaving = holders.find((one) => one.kind === kind && one.key === key);
            for (const one of holders)
              if (leaving !== undefined && nameOf(one.claimant) === nameOf(leaving.claimant)) release.call(this, one.kind, one.key);
          }
        }
        return release.call(this, kind, key, subnet);
      },
  );
}

/** Who came last goes first where two have one address and nobody is in use. */
function youngerFirst(): () => void {
  return replaced(
    Occupancy.prototype,
    'holdersAt',
    (holdersAt) =>
      function (this: Occupancy, ...where) {
        return holdersAt.apply(this, where).toReversed();
      },
  );
}

/** A node's port in a Subnet does not keep that. */
function nodesHoldNothing(): () => void {
  const hold = DEPENDENCIES.find(({ on, dependent }) => on === 'subnets' && dependent === 'nodes') as {
    dependents: Dependency['dependents'];
  };
  const { dependents } = hold;
  hold.dependents = () => [];
  return () => void (hold.dependents = dependents);
}

/** Whoever asks for a pod to be evicted has it deleted, whatever its budgets say. */
function deletedForEvicted(): () => void {
  return replaced(
    KubeWriter.prototype,
    'submit',
    (submit) =>
      function (this: KubeWriter, intent) {
        const { operation } = intent;
        return submit.call(
          this,
          operation.kind === 'evict' ? { ...intent, operation: { kind: 'delete', propagation: 'Background' } } : intent,
        );
      },
  );
}

function withoutFence(): () => void {
  return replaced(
    Fence.prototype,
    'guards',
    (guards) =>
      function (this: Fence) {
        return guards.call(this) === undefined ? undefined : [];
      },
  );
}

function withoutUid(): () => void {
  return replaced(
    KubeWriter.prototype,
    'submit',
    (submit) =>
      function (this: KubeWriter, { uid: _uid, ...intent }) {
        return submit.call(this, intent);
      },
  );
}

function anyAddress(): () => void {
  return replaced(
    Ledger.prototype,
    'allocate',
    (allocate) =>
      function (this: Ledger, subnet, { static: _asked, ...request }) {
        return allocate.call(this, subnet, request);
      },
  );
}

/** Whoever met somebody else's write waits for a while, whether or not that was seen by then. */
function restsWhateverIsSeen(): () => void {
  return replaced(
    WriteDelays.prototype,
    'answered',
    (answered) =>
      function (this: WriteDelays, id, write, error) {
        answered.call(this, id, write, error);
        if (error?.code === 'KUBE_CONFLICT') this.rest(id, 'soon');
      },
  );
}

function alwaysLeading(): () => void {
  return replaced(LeaderElection.prototype, 'isLeader', () => () => true);
}

function saidTwice(): () => void {
  return replaced(
    EventRecorder.prototype,
    'record',
    (record) =>
      function (this: EventRecorder, event) {
        record.call(this, event);
        record.call(this, event);
      },
  );
}

/** An IP object that has nobody any more stays, where `keeps` says so. */
function kept(keeps: (world: World, ip: IP) => boolean): () => readonly Rule[] {
  return spoilt('ip-lifecycle', () => (outputs, world, key) => {
    const ip = world.ips.get(key);
    return ip !== undefined && keeps(world, ip) ? outputs.filter(({ kind }) => kind !== 'delete') : outputs;
  });
}

export const KNOWN_FAULTS: readonly KnownFault[] = [
  {
    name: 'a Subnet lets go of its finalizer while addresses are in use',
    like: 'C07',
    rules: spoilt('subnet-lifecycle', () => letsGoEarly),
  },
  {
    name: 'an IP object lets go of its finalizer while its port is there',
    like: 'C58',
    rules: spoilt(
      'ip-lifecycle',
      () => (outputs, world, key) =>
        world.ips.get(key)?.metadata.deletionTimestamp === undefined
          ? outputs
          : patches(outputs, (patch) => (patch.conditions === undefined ? { ...patch, finalizer: false } : patch)),
    ),
  },
  { name: 'a Vpc lets go of its finalizer while Subnets are in it', like: 'C01', rules: spoilt('vpc-lifecycle', () => letsGoEarly) },
  {
    name: 'a Subnet that nobody is in any more never goes',
    like: 'C11',
    rules: spoilt(
      'subnet-lifecycle',
      () => (outputs, world, key) =>
        world.subnets.get(key)?.metadata.deletionTimestamp === undefined
          ? outputs
          : patches(outputs, (patch) => ({ ...patch, finalizer: true })),
    ),
  },
  {
    name: 'a pod whose Subnet is not ready yet falls back to the default one',
    like: 'C52',
    rules: spoilt('pod', () => (outputs, world, key) => {
      const pod = world.pods.get(key);
      if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || outputs.some(({ kind }) => kind === 'address-request'))
        return outputs;
      const { uid, name, namespace = '', creationTimestamp } = pod.metadata;
      const claimant = `${name}.${namespace}#${uid}`;
      return [
        ...outputs,
        { kind: 'address-request', request: { claimant, subnets: [DEFAULT_SUBNET], families: 'subnet', since: creationTimestamp } },
      ];
    }),
  },
  {
    name: 'rows keep the uid of the first object of a name',
    like: 'C46',
    rules: spoilt('subnet-switch', () => {
      const first = new Map<string, string>();
      return (outputs, _world, key) =>
        outputs.map((output) => {
          if (output.kind !== 'row') return output;
          const uid = first.get(key) ?? output.owner.uid;
          first.set(key, uid);
          return { ...output, owner: { ...output.owner, uid } };
        });
    }),
  },
  {
    name: 'the port of every other pod is missing in the port group of its node',
    like: 'C53',
    rules: spoilt('pod', () => (outputs, world, key) => {
      const odd = Number.parseInt((world.pods.get(key)?.metadata.uid ?? '0').slice(-1), 16) % 2 === 1;
      return odd ? outputs.filter(({ kind }) => kind !== 'member') : outputs;
    }),
  },
  {
    name: 'the IP object of a pod that is gone stays',
    like: 'C27',
    rules: spoilt('ip-lifecycle', () => (outputs) => outputs.filter(({ kind }) => kind !== 'delete')),
  },
  {
    name: 'the counts of a Subnet are not written again after the first time',
    like: 'C48',
    rules: spoilt('subnet-usage-status', () => {
      const first = new Map<string, readonly Output[]>();
      return (outputs, _world, key) => {
        if (!first.has(key) && outputs.length > 0) first.set(key, outputs);
        return outputs.length > 0 ? (first.get(key) ?? outputs) : outputs;
      };
    }),
  },
  {
    name: 'who holds a Subnet that is being deleted is named wrongly',
    like: 'C11',
    rules: spoilt(
      'subnet-lifecycle',
      () => (outputs) =>
        patches(outputs, (patch) => ({
          ...patch,
          conditions: (patch.conditions ?? []).map((condition) => ({ ...condition, message: `it is used by IP nobody.${patch.key}` })),
        })),
    ),
  },
  {
    name: 'every other pod is told an address that its port does not have',
    like: 'C44',
    rules: spoilt('pod', () => (outputs, world, key) => {
      const odd = Number.parseInt((world.pods.get(key)?.metadata.uid ?? '0').slice(-1), 16) % 2 === 1;
      return patches(outputs, (patch) =>
        odd && typeof patch.annotations?.['ovn.kubernetes.io/ip_address'] === 'string'
          ? { ...patch, annotations: { ...patch.annotations, 'ovn.kubernetes.io/ip_address': '10.16.200.200' } }
          : patch,
      );
    }),
  },
  {
    name: 'who asks for an address to be kept is never answered',
    like: 'C12',
    rules: spoilt('reserved-ip', () => () => []),
  },
  { name: 'an address is released by name instead of UID', like: 'C42', rules: () => RULES, beneath: releaseByName },
  { name: 'transactions have no fence', like: 'C85', rules: () => RULES, beneath: withoutFence },
  { name: 'patches and deletions do not say which object they mean', like: 'C46', rules: () => RULES, beneath: withoutUid },
  { name: 'an IP object in conflict does not tell it', like: 'C44', rules: untold('ip-lifecycle', 'AddressConflict') },
  { name: 'an OvnEip in conflict does not tell it', like: 'C33', rules: untold('ovn-eip', 'AddressConflict') },
  { name: 'the ACLs of a Subnet are not made', like: 'C84', rules: spoilt('subnet-acls', () => silent) },
  {
    name: 'an IP object is kept under any StatefulSet of its name',
    like: 'C58',
    rules: kept(
      (world, { spec: { podType, podName = '', namespace } }) =>
        podType === 'StatefulSet' && world.statefulSets.has(`${namespace}/${podName.slice(0, podName.lastIndexOf('-'))}`),
    ),
  },
  { name: 'a process writes whoever leads', like: 'C85', rules: () => RULES, beneath: alwaysLeading },
  {
    name: 'who met a conflict waits for a timer',
    like: 'C12',
    rules: () => RULES,
    beneath: restsWhateverIsSeen,
    seed: 11_900_013,
    draws: 'crowds',
  },
  { name: 'every Event is said twice', rules: () => RULES, beneath: saidTwice },
  { name: 'who asks for an address by name is given any', like: 'C54', rules: () => RULES, beneath: anyAddress },
  { name: 'of two who have one address the younger goes first', like: 'C44', rules: () => RULES, beneath: youngerFirst, seed: 9_200_038 },
  { name: 'the port of a node does not keep its Subnet', like: 'C11', rules: () => RULES, beneath: nodesHoldNothing, seed: 9_200_011 },
  { name: 'pods are deleted instead of evicted', rules: () => RULES, beneath: deletedForEvicted, seed: 9_200_011 },
  {
    name: "the address of a StatefulSet's pod goes with the pod",
    like: 'C58',
    seed: 9_200_007,
    rules: spoilt('ip-lifecycle', () => (outputs, world, key) => {
      const ip = world.ips.get(key);
      const { podType, podName = '', namespace = '' } = ip?.spec ?? {};
      if (ip === undefined || podType !== 'StatefulSet' || world.pods.has(`${namespace}/${podName}`)) return outputs;
      return [{ kind: 'delete', resource: 'ips', key, uid: ip.metadata.uid }];
    }),
  },
  { name: 'there is no way to the addresses of nodes', like: 'C74', rules: spoilt('node-policy', () => silent) },
  {
    name: 'a policy route sends to the first of its next hops alone',
    seed: 9_860_009,
    rules: spoilt('vpc-policy-routes', () => (outputs) => columns(outputs, ({ nexthops }) => ({ nexthops: first(nexthops) }))),
  },
  {
    name: 'a Namespace is told what its Subnet kept back at first',
    seed: 9_820_000,
    rules: spoilt(
      'namespace-annotations',
      () => (outputs, world, key) =>
        patches(outputs, (patch) => {
          const told = world.namespaces.get(key)?.metadata.annotations?.[annotationKey.excludeIps];
          return told === undefined ? patch : { ...patch, annotations: { ...patch.annotations, [annotationKey.excludeIps]: told } };
        }),
    ),
  },
  {
    name: 'the address set of a pool stays as it was made',
    seed: 9_820_003,
    rules: spoilt('ip-pool', () => {
      const made = new Map<string, ColumnValue>();
      return (outputs) =>
        outputs.map((output) => {
          if (output.kind !== 'row') return output;
          const addresses = made.get(output.owner.uid) ?? output.columns['addresses'] ?? [];
          made.set(output.owner.uid, addresses);
          return { ...output, columns: { ...output.columns, addresses } };
        });
    }),
  },
  {
    name: 'that a deletion is blocked is said for ever',
    like: 'C11',
    seed: 9_820_009,
    rules: spoilt(
      'subnet-lifecycle',
      () => (outputs) => patches(outputs, ({ withoutConditions: _types, eventsWithout: _events, ...patch }) => patch),
    ),
  },
  {
    name: 'pods of a Namespace that has IPPools are given any address',
    seed: 9_820_006,
    rules: spoilt(
      'pod',
      () => (outputs) =>
        outputs.map((output) => {
          if (output.kind !== 'address-request') return output;
          const { pools: _pools, ...request } = output.request;
          return { ...output, request };
        }),
    ),
  },
  {
    name: 'pods are told their addresses before their ports are there',
    like: 'C44',
    seed: 9_110_000,
    draws: 'seldom',
    rules: spoilt('pod', () => (outputs, world, key) => {
      const { name, namespace = '', uid } = world.pods.get(key)?.metadata ?? {};
      const ip = world.ips.get(`${name}.${namespace}`);
      if (uid === undefined || ip?.metadata.annotations?.[kilnAnnotation.podUid] !== uid) return outputs;
      const { subnet = '', ipAddress = '', macAddress = '' } = ip.spec;
      const texts = { allocated: 'true', logical_switch: subnet, ip_address: ipAddress, mac_address: macAddress };
      const annotations = Object.fromEntries(Object.entries(texts).map(([suffix, text]) => [`ovn.kubernetes.io/${suffix}`, text]));
      return [...outputs, { kind: 'patch', resource: 'pods', key, uid, annotations }];
    }),
  },
  {
    name: 'what a pod says that it was given is taken for the truth',
    like: 'issue 22',
    seed: 9_110_000,
    draws: 'all',
    rules: spoilt('pod', () => (outputs, world, key) => {
      const { name, namespace = '', uid, creationTimestamp, annotations = {}, labels } = world.pods.get(key)?.metadata ?? {};
      const said = (suffix: 'allocated' | 'ip_address' | 'mac_address' | 'logical_switch' | 'virtualmachine'): string =>
        annotations[podAnnotation('ovn', suffix)] ?? '';
      const port = rowId('Logical_Switch_Port', `${name ?? ''}.${namespace}`);
      const has = outputs.some((output) => output.kind === 'row' && output.id === port) || said('virtualmachine') !== '';
      if (
        name === undefined ||
        uid === undefined ||
        labels?.[LIES] !== 'true' ||
        has ||
        said('allocated') !== 'true' ||
        said('logical_switch') === ''
      )
        return outputs;
      const believed: RowOutput = {
        kind: 'row',
        id: port,
        owner: { kind: 'pod', namespace, name, uid, created: creationTimestamp ?? '' },
        rule: 'pod-port',
        parent: { id: rowId('Logical_Switch', said('logical_switch')), column: 'ports' },
        columns: { name: `${name}.${namespace}`, type: '', addresses: [`${said('mac_address')} ${said('ip_address')}`] },
        externalIds: { ls: said('logical_switch') },
      };
      const taken = (output: Output): boolean =>
        output.kind === 'patch' && output.annotations?.[podAnnotation('ovn', 'allocated')] === null;
      return [...outputs.filter((output) => !taken(output)), believed];
    }),
  },
  {
    name: 'the way to a Subnet comes after the way out',
    seed: 9_110_000,
    draws: 'seldom',
    rules: spoilt(
      'subnet-routes',
      () => (outputs) =>
        outputs.map((output) => {
          if (output.kind !== 'row' || output.columns['priority'] !== 31_000) return output;
          const id = output.id.replace('31000', '28000') as RowOutput['id'];
          return { ...output, id, columns: { ...output.columns, priority: 28_000 } };
        }),
    ),
  },
  {
    name: 'load balancers with affinity keep no client with its backend',
    seed: 9_110_000,
    draws: 'seldom',
    rules: spoilt(
      'vpc-load-balancers',
      () => (outputs) =>
        columns(outputs, ({ options }) => {
          const { affinity_timeout: _timeout, ...others } = options as Readonly<Record<string, string>>;
          return { options: others };
        }),
    ),
  },
  {
    name: 'a Namespace is not told its IPPools',
    seed: 9_900_000,
    draws: 'crowds',
    rules: spoilt(
      'namespace-annotations',
      () => (outputs) =>
        patches(outputs, (patch) => ({ ...patch, annotations: { ...patch.annotations, [podAnnotation('ovn', 'ip_pool')]: null } })),
    ),
  },
  {
    name: 'the group of a node is not marked as its own',
    seed: 9_900_000,
    draws: 'crowds',
    rules: spoilt(
      'node-port-group',
      () => (outputs) => outputs.map((output) => (output.kind === 'row' ? { ...output, externalIds: {} } : output)),
    ),
  },
  {
    name: 'the IP object of a pod is handed on to the next one of its name',
    like: 'C42',
    seed: 9_900_000,
    draws: 'crowds',
    rules: spoilt('ip-lifecycle', () => (outputs, world, key) => {
      const { podName = '', namespace = '', podType = '' } = world.ips.get(key)?.spec ?? {};
      const pod = world.pods.get(`${namespace}/${podName}`);
      if (pod === undefined || podType !== '' || world.ips.get(key)?.metadata.annotations?.[kilnAnnotation.podUid] === undefined)
        return outputs;
      const others = outputs.filter(({ kind }) => kind !== 'delete');
      const uid = world.ips.get(key)?.metadata.uid ?? '';
      return [...others, { kind: 'patch', resource: 'ips', key, uid, annotations: { [kilnAnnotation.podUid]: pod.metadata.uid } }];
    }),
  },
  {
    name: 'an OvnEip has no finalizer while nobody asks it to go',
    like: 'C48',
    rules: spoilt(
      'ovn-eip',
      () => (outputs) => patches(outputs, ({ finalizer, ...patch }) => (finalizer === true ? patch : { ...patch, finalizer: false })),
    ),
  },
  {
    name: 'one wrong route of a Vpc takes the others along',
    seed: 14_200_690,
    draws: 'crowds',
    rules: spoilt('vpc-static-routes', () => (outputs, world, key) => {
      const accepted = world.vpcs.get(key)?.status?.conditions?.find(({ type }) => type === 'Accepted');
      return accepted?.message?.includes('spec.staticRoutes') === true ? [] : outputs;
    }),
  },
  {
    name: 'of several Subnets of a Namespace the first alone takes its pods',
    like: 'C52',
    seed: 14_200_062,
    draws: 'crowds',
    rules: spoilt(
      'pod',
      () => (outputs) =>
        outputs.map((output) =>
          output.kind === 'address-request'
            ? { ...output, request: { ...output.request, subnets: output.request.subnets.slice(0, 1) } }
            : output,
        ),
    ),
  },
];
