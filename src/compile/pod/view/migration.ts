/**
 * Live migration of a virtual machine: which of its pods is the primary, and on which chassis its port is. Both depend on the present World
 * alone, so a controller that starts during a migration continues it.
 *
 * KubeVirt reports the progress in its VirtualMachineInstanceMigration, and in the instance when that is gone. Without either, the older
 * pod is the primary while it lives.
 */
import type { World } from '../../../world/world.ts';
import { requestedChassis } from '../../node/node-chassis.ts';
import type { PodView } from './pod-view.ts';

/** Columns `options` of the port: `requested-chassis`, `activation-strategy` (ovn-nb(5), Logical_Switch_Port). */
export type ChassisOptions = Readonly<Partial<Record<'requested-chassis' | 'activation-strategy', string>>>;

type Stage = 'moving' | 'moved' | 'failed';

/** The stage of the migration to this pod; undefined if the pod is no target. */
function stageOf(world: World, { namespace, migration, machine }: PodView): Stage | undefined {
  if (migration === undefined) return undefined;
  const { name, uid } = migration;
  const named = world.machineMigrations.get(`${namespace}/${name}`);
  const [byUid = ''] = uid === '' ? [] : world.machineMigrations.bucket('uid', uid);
  const found = named !== undefined && (uid === '' || named.metadata.uid === uid) ? named : world.machineMigrations.get(byUid);
  if (found !== undefined) return ({ Succeeded: 'moved', Failed: 'failed' }[found.status?.phase ?? ''] as Stage | undefined) ?? 'moving';
  const last = world.virtualMachineInstances.get(`${namespace}/${machine?.name ?? ''}`)?.status?.migrationState;
  if (uid === '' || last?.migrationUid !== uid) return 'moving';
  return last.failed === true ? 'failed' : last.completed === true ? 'moved' : 'moving';
}

/** The target is the primary when its migration succeeded. After a failed migration it is the primary only if there is no other pod. */
const RANK: Readonly<Record<Stage | 'none', number>> = { moved: 0, none: 1, moving: 2, failed: 3 };

/** Live pods of one machine in order of precedence: not terminating, then by stage, then the older (of two reached targets the younger). */
export function primaryFirst(world: World, pods: readonly PodView[]): readonly PodView[] {
  const ranked = pods.map((pod) => ({ pod, rank: RANK[stageOf(world, pod) ?? 'none'] }));
  return ranked
    .toSorted((a, b) => {
      const [first, second] = [a.pod, b.pod];
      if (first.terminating !== second.terminating) return first.terminating ? 1 : -1;
      if (a.rank !== b.rank) return a.rank - b.rank;
      return a.rank === RANK.moved ? -byAge(first, second) : byAge(first, second);
    })
    .map(({ pod }) => pod);
}

function byAge(a: PodView, b: PodView): number {
  return `${a.created} ${a.uid}` < `${b.created} ${b.uid}` ? -1 : 1;
}

/**
 * During a migration the port has both chassis; the first is active until the machine announces itself on the other (RARP). After it
 * succeeded or failed, the port has one chassis until the other pod is gone.
 * @param pods all pods of the machine, also finished ones
 */
export function chassisOptionsOf(world: World, primary: PodView, pods: readonly PodView[]): ChassisOptions {
  const target = pods
    .filter(({ migration }) => migration !== undefined)
    .toSorted(byAge)
    .at(-1);
  if (target === undefined || pods.length < 2 || primary.node === '') return {};
  const reached = target.key === primary.key;
  const chassis = ({ node }: PodView): string => world.ask(requestedChassis, node);
  switch (stageOf(world, target)) {
    case 'moved':
      return reached ? { 'requested-chassis': chassis(primary) } : {};
    case 'failed':
      return reached ? {} : { 'requested-chassis': chassis(primary) };
    default:
      if (reached || !target.alive || target.node === '' || target.node === primary.node) return {};
      return { 'requested-chassis': `${chassis(primary)},${chassis(target)}`, 'activation-strategy': 'rarp' };
  }
}
