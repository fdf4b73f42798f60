/**
 * Faults that other controllers had, put into a copy of the rules: each replaces one rule by a faulty one, and the simulator has to find
 * it. The file is long because it is a catalogue.
 */
import { annotationKey, kilnAnnotation, podAnnotation } from '../../../src/api/well-known.ts';
import { Fence } from '../../../src/commit/fence.ts';
import { WriteDelays } from '../../../src/commit/write-delays.ts';
import type { Rule } from '../../../src/compile/rule.ts';
import type { ColumnValue, Output, PatchOutput, RowOutput } from '../../../src/compile/output.ts';
import { RULES } from '../../../src/compile/rules.ts';
import { EventRecorder } from '../../../src/kube/events/event-recorder.ts';
import { KubeWriter } from '../../../src/kube/write/kube-writer.ts';
import { LeaderElection } from '../../../src/kube/leader/leader-election.ts';
import type { Dependency } from '../../../src/blockers/dependency.ts';
import { defineSet } from '../../../src/world/world.ts';
import { DEPENDENCIES } from '../../../src/blockers/dependencies.ts';
import { Occupancy } from '../../../src/ipam/occupancy.ts';
import { Ledger } from '../../../src/ipam/ledger.ts';
import type { IP } from '../../../src/api/kinds/ip.ts';
import { rowId } from '../../../src/nb/row-id.ts';
import type { World } from '../../../src/world/world.ts';

export interface KnownFault {
  readonly name: string;
  /** Failure cases of the same kind, if there are any. */
  readonly like?: string;
  /** A fresh copy for each process, so that what a fault remembers ends with it. */
  readonly rules: () => readonly Rule[];
  /** Applies a fault that is not in a rule. @returns undoes it */
  readonly beneath?: () => () => void;
}

type Change = (outputs: readonly Output[], world: World, key: string) => readonly Output[];

/** Makes the rules with one of them changed. */
function withRule(rule: string, spoil: () => Change): () => readonly Rule[] {
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

const finalizerRemovedEarly: Change = (outputs, world, key) => {
  const going = (world.subnets.get(key) ?? world.vpcs.get(key))?.metadata.deletionTimestamp !== undefined;
  return going ? patches(outputs, ({ conditions: _conditions, ...patch }) => ({ ...patch, finalizer: false })) : outputs;
};

/** Makes a rule that emits no condition of this type. */
function withoutCondition(rule: string, type: string): () => readonly Rule[] {
  return withRule(
    rule,
    () => (outputs) => patches(outputs, (patch) => ({ ...patch, conditions: (patch.conditions ?? []).filter((one) => one.type !== type) })),
  );
}

const silent: Change = () => [];

/** Replaces a method of a class. @returns restores it */
function replaced<T extends object, K extends keyof T>(prototype: T, name: K, by: (before: T[K]) => T[K]): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
  Object.defineProperty(prototype, name, { ...descriptor, value: by(descriptor.value as T[K]) });
  return () => void Object.defineProperty(prototype, name, descriptor);
}

/** Releasing one holder releases each other one with the same port name, whatever the uid of its pod. */
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

/** Of two holders of one address of which neither is in use, the younger goes first. */
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

/** A node's port in a Subnet does not block the deletion of the Subnet. */
function nodesBlockNothing(): () => void {
  const dependency = DEPENDENCIES.find(({ on, dependent }) => on === 'subnets' && dependent === 'nodes') as {
    dependents: Dependency['dependents'];
  };
  const { dependents } = dependency;
  dependency.dependents = defineSet('no-nodes', () => []);
  return () => void (dependency.dependents = dependents);
}

/** A pod is deleted instead of evicted, so that disruption budgets have no effect. */
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

/** A rejected write with a conflict waits for a while, although the watch may have delivered the other write by then. */
function conflictsRest(): () => void {
  return replaced(
    WriteDelays.prototype,
    'answered',
    (answered) =>
      function (this: WriteDelays, id, write, error) {
        answered.call(this, id, write, error);
        if (error?.code === 'KUBE_CONFLICT') this.backOff(id, 'soon');
      },
  );
}

function alwaysLeading(): () => void {
  const { prototype } = LeaderElection;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'leads') as PropertyDescriptor;
  Object.defineProperty(prototype, 'leads', { ...descriptor, get: () => ({ name: 'lease', passes: () => true }) });
  const undo = replaced(prototype, 'isLeader', () => () => true);
  return () => {
    undo();
    Object.defineProperty(prototype, 'leads', descriptor);
  };
}

function sentTwice(): () => void {
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

/** An IP object that no longer belongs to an existing pod stays if `keeps` says so. */
function kept(keeps: (world: World, ip: IP) => boolean): () => readonly Rule[] {
  return withRule('ip-lifecycle', () => (outputs, world, key) => {
    const ip = world.ips.get(key);
    return ip !== undefined && keeps(world, ip) ? outputs.filter(({ kind }) => kind !== 'delete') : outputs;
  });
}

export const KNOWN_FAULTS: readonly KnownFault[] = [
  {
    name: 'a Subnet loses its finalizer while addresses are in use',
    like: 'C07',
    rules: withRule('subnet-lifecycle', () => finalizerRemovedEarly),
  },
  {
    name: 'an IP object loses its finalizer while its port exists',
    like: 'C58',
    rules: withRule(
      'ip-lifecycle',
      () => (outputs, world, key) =>
        world.ips.get(key)?.metadata.deletionTimestamp === undefined
          ? outputs
          : patches(outputs, (patch) => (patch.conditions === undefined ? { ...patch, finalizer: false } : patch)),
    ),
  },
  {
    name: 'a Vpc loses its finalizer while Subnets are in it',
    like: 'C01',
    rules: withRule('vpc-lifecycle', () => finalizerRemovedEarly),
  },
  {
    name: 'an empty Subnet that is being deleted never goes',
    like: 'C11',
    rules: withRule(
      'subnet-lifecycle',
      () => (outputs, world, key) =>
        world.subnets.get(key)?.metadata.deletionTimestamp === undefined
          ? outputs
          : patches(outputs, (patch) => ({ ...patch, finalizer: true })),
    ),
  },
  {
    name: 'the IP object of a pod that is gone stays',
    like: 'C27',
    rules: withRule('ip-lifecycle', () => (outputs) => outputs.filter(({ kind }) => kind !== 'delete')),
  },
  {
    name: 'a Subnet that is being deleted names a wrong blocker',
    like: 'C11',
    rules: withRule(
      'subnet-lifecycle',
      () => (outputs) =>
        patches(outputs, (patch) => ({
          ...patch,
          conditions: (patch.conditions ?? []).map((condition) => ({ ...condition, message: `it is used by IP absent.${patch.key}` })),
        })),
    ),
  },
  {
    name: 'a request to reserve an address is never answered',
    like: 'C12',
    rules: withRule('reserved-ip', () => () => []),
  },
  { name: 'an address is released by name instead of UID', like: 'C42', rules: () => RULES, beneath: releaseByName },
  { name: 'transactions have no fence', like: 'C85', rules: () => RULES, beneath: withoutFence },
  { name: 'patches and deletions do not name the uid', like: 'C46', rules: () => RULES, beneath: withoutUid },
  { name: 'an IP object does not report its address conflict', like: 'C44', rules: withoutCondition('ip-lifecycle', 'AddressConflict') },
  { name: 'an OvnEip does not report its address conflict', like: 'C33', rules: withoutCondition('ovn-eip', 'AddressConflict') },
  { name: 'the ACLs of a Subnet are not made', like: 'C84', rules: withRule('subnet-acls', () => silent) },
  {
    name: 'an IP object is retained for any StatefulSet of its name',
    like: 'C58',
    rules: kept(
      (world, { spec: { podType, podName = '', namespace } }) =>
        podType === 'StatefulSet' && world.statefulSets.has(`${namespace}/${podName.slice(0, podName.lastIndexOf('-'))}`),
    ),
  },
  { name: 'a process writes although another one leads', like: 'C85', rules: () => RULES, beneath: alwaysLeading },
  {
    name: 'a write that met a conflict waits for a timer',
    like: 'C12',
    rules: () => RULES,
    beneath: conflictsRest,
  },
  { name: 'every Event is sent twice', rules: () => RULES, beneath: sentTwice },
  { name: 'a request for an address by name gets any address', like: 'C54', rules: () => RULES, beneath: anyAddress },
  { name: 'of two claimants of one address the younger goes first', like: 'C44', rules: () => RULES, beneath: youngerFirst },
  { name: 'a node does not block the deletion of its Subnet', like: 'C11', rules: () => RULES, beneath: nodesBlockNothing },
  { name: 'pods are deleted instead of evicted', rules: () => RULES, beneath: deletedForEvicted },
  {
    name: "the address of a StatefulSet's pod goes with the pod",
    like: 'C58',
    rules: withRule('ip-lifecycle', () => (outputs, world, key) => {
      const ip = world.ips.get(key);
      const { podType, podName = '', namespace = '' } = ip?.spec ?? {};
      if (ip === undefined || podType !== 'StatefulSet' || world.pods.has(`${namespace}/${podName}`)) return outputs;
      return [{ kind: 'delete', resource: 'ips', key, uid: ip.metadata.uid }];
    }),
  },
  { name: 'policies for the addresses of nodes are missing', like: 'C74', rules: withRule('node-policy', () => silent) },
  {
    name: 'a policy route has only the first of its next hops',
    rules: withRule('vpc-policy-routes', () => (outputs) => columns(outputs, ({ nexthops }) => ({ nexthops: first(nexthops) }))),
  },
  {
    name: 'a Namespace keeps the first excludeIps of its Subnet',
    rules: withRule(
      'namespace-annotations',
      () => (outputs, world, key) =>
        patches(outputs, (patch) => {
          const current = world.namespaces.get(key)?.metadata.annotations?.[annotationKey.excludeIps];
          return current === undefined ? patch : { ...patch, annotations: { ...patch.annotations, [annotationKey.excludeIps]: current } };
        }),
    ),
  },
  {
    name: 'the address set of a pool is never updated',
    rules: withRule('ip-pool', () => {
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
    name: 'DeletionBlocked is never removed',
    like: 'C11',
    rules: withRule(
      'subnet-lifecycle',
      () => (outputs) => patches(outputs, ({ withoutConditions: _types, eventsWithout: _events, ...patch }) => patch),
    ),
  },
  {
    name: 'pods of a Namespace that has IPPools get any address',
    rules: withRule(
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
    name: 'addresses are reported before the port is there',
    like: 'C44',
    rules: withRule('pod', () => (outputs, world, key) => {
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
    name: 'forged annotations of a pod are believed',
    like: 'issue 22',
    rules: withRule('pod', () => (outputs, world, key) => {
      const { name, namespace = '', uid, creationTimestamp, annotations = {} } = world.pods.get(key)?.metadata ?? {};
      const annotation = (suffix: 'allocated' | 'ip_address' | 'mac_address' | 'logical_switch' | 'virtualmachine'): string =>
        annotations[podAnnotation('ovn', suffix)] ?? '';
      const port = rowId('Logical_Switch_Port', `${name ?? ''}.${namespace}`);
      const has = outputs.some((output) => output.kind === 'row' && output.id === port) || annotation('virtualmachine') !== '';
      if (name === undefined || uid === undefined || has || annotation('allocated') !== 'true' || annotation('logical_switch') === '')
        return outputs;
      const believed: RowOutput = {
        kind: 'row',
        id: port,
        owner: { kind: 'pod', namespace, name, uid, created: creationTimestamp ?? '' },
        rule: 'pod-port',
        parent: { id: rowId('Logical_Switch', annotation('logical_switch')), column: 'ports' },
        columns: { name: `${name}.${namespace}`, type: '', addresses: [`${annotation('mac_address')} ${annotation('ip_address')}`] },
        externalIds: { ls: annotation('logical_switch') },
      };
      const isReplaced = (output: Output): boolean =>
        output.kind === 'patch' && output.annotations?.[podAnnotation('ovn', 'allocated')] === null;
      return [...outputs.filter((output) => !isReplaced(output)), believed];
    }),
  },
  {
    name: 'the policy into a Subnet comes after the policy out of it',
    rules: withRule(
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
    name: 'session load balancers do not select by the source',
    rules: withRule('vpc-load-balancers', () => (outputs) => columns(outputs, () => ({ selection_fields: [] }))),
  },
  {
    name: 'IPPools are missing in the annotations of their Namespace',
    rules: withRule(
      'namespace-annotations',
      () => (outputs) =>
        patches(outputs, (patch) => ({ ...patch, annotations: { ...patch.annotations, [podAnnotation('ovn', 'ip_pool')]: null } })),
    ),
  },
  {
    name: 'the port group of a node has no external_ids',
    rules: withRule(
      'node-port-group',
      () => (outputs) => outputs.map((output) => (output.kind === 'row' ? { ...output, externalIds: {} } : output)),
    ),
  },
  {
    name: 'the IP object of a pod is handed to the next pod of its name',
    like: 'C42',
    rules: withRule('ip-lifecycle', () => (outputs, world, key) => {
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
    name: 'an OvnEip has no finalizer',
    like: 'C48',
    rules: withRule(
      'ovn-eip',
      () => (outputs) => patches(outputs, ({ finalizer, ...patch }) => (finalizer === true ? patch : { ...patch, finalizer: false })),
    ),
  },
  {
    name: 'one wrong route of a Vpc disables the others',
    rules: withRule('vpc-static-routes', () => (outputs, world, key) => {
      const accepted = world.vpcs.get(key)?.status?.conditions?.find(({ type }) => type === 'Accepted');
      return accepted?.message?.includes('spec.staticRoutes') === true ? [] : outputs;
    }),
  },
  {
    name: 'only the first Subnet of a Namespace takes pods',
    like: 'C52',
    rules: withRule(
      'pod',
      () => (outputs) =>
        outputs.map((output) =>
          output.kind === 'address-request'
            ? { ...output, request: { ...output.request, subnets: output.request.subnets.slice(0, 1) } }
            : output,
        ),
    ),
  },
  {
    name: 'the chassis of an external port are those of the moment in which it was made',
    like: 'issue 27',
    rules: withRule('vpc-external', () => {
      const made = new Map<string, readonly Output[]>();
      return (outputs, _world, key) => {
        const isChassis = (output: Output): boolean => output.kind === 'row' && output.id.startsWith('Gateway_Chassis/');
        const chassis = outputs.filter(isChassis);
        if (chassis.length === 0) return outputs;
        made.set(key, made.get(key) ?? chassis);
        return [...outputs.filter((output) => !isChassis(output)), ...(made.get(key) ?? [])];
      };
    }),
  },
  {
    name: 'an OvnFip that names another EIP keeps the address of the first',
    like: 'T46',
    rules: withRule('nat-rule-ovn-fips', () => {
      const made = new Map<string, Output>();
      return (outputs) =>
        outputs.map((output) => {
          if (output.kind !== 'row') return output;
          made.set(output.owner.uid, made.get(output.owner.uid) ?? output);
          return made.get(output.owner.uid) ?? output;
        });
    }),
  },
];
