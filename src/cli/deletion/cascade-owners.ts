/** The workloads of the pods in a cascade: before the first deletion the command keeps them, scales them to 0, or deletes them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isKubeError } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { RequestRetry } from '../connection/request-retry.ts';
import type { Workload } from './workload-owner.ts';
import { workloadText } from './workload-owner.ts';
import { commandText } from '../../text/command-text.ts';

export type OwnerPolicy = 'keep' | 'scale' | 'delete';

type Scaled = KubeObject & {
  readonly metadata: { readonly generation?: number };
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly observedGeneration?: number; readonly replicas?: number };
};

/** How long a controller may take to observe its scale. */
const OBSERVED_WITHIN_MS = 10_000;
const LOOK_MS = 100;

/** The object was deleted, or replaced by another one of its name. */
export function isGone(error: unknown): boolean {
  return isKubeError(error, 'KUBE_NOT_FOUND') || isKubeError(error, 'KUBE_PRECONDITION');
}

export async function scaleOrDeleteOwners(
  workloads: readonly Workload[],
  owners: OwnerPolicy,
  io: CommandIo,
  retry: RequestRetry,
): Promise<void> {
  if (owners === 'keep') return;
  const fixed = owners === 'scale' ? workloads.find(({ scales }) => !scales) : undefined;
  if (fixed !== undefined)
    throw new CommandFailure(
      EXIT.findings,
      'nothing was deleted',
      `${workloadText(fixed)} cannot be scaled`,
      'delete it first, or use --owners=delete',
    );
  for (const workload of workloads) {
    try {
      io.say(owners === 'delete' ? await deleteOwner(workload, io, retry) : await scaleOwner(workload, io, retry));
    } catch (error) {
      if (!isGone(error)) throw error;
      io.say(`${workloadText(workload)} is deleted already`);
    }
  }
}

async function deleteOwner(workload: Workload, { client }: CommandIo, retry: RequestRetry): Promise<string> {
  const { resource, namespace, name, uid } = workload;
  await retry.run(() => client.delete(resource, { name, namespace }, { uid, propagation: 'Background' }));
  return `${workloadText(workload)} deleted`;
}

async function scaleOwner(workload: Workload, { client }: CommandIo, retry: RequestRetry): Promise<string> {
  const { resource, namespace, name, uid } = workload;
  // Once only: a second patch would see the result of the first.
  const { spec } = await retry.run(() => client.get<Scaled>(resource, { name, namespace }));
  await retry.run(() => client.mergePatch(resource, { name, namespace }, { metadata: { uid }, spec: { replicas: 0 } }));
  await untilObserved(workload, client, retry);
  const undo = commandText`kubectl scale ${resource.kind.toLowerCase()} ${name} -n ${namespace} --replicas=${spec?.replicas ?? 1}`;
  return `${workloadText(workload)} scaled to 0; to undo: ${undo}`;
}

/**
 * Waits until the workload's controller makes no pods any more: it would replace a pod that is deleted before, and the new one could get an
 * address after the command has ended. A Deployment has no pods then, since its ReplicaSets have controllers of their own.
 */
async function untilObserved({ resource, namespace, name }: Workload, client: CommandIo['client'], retry: RequestRetry): Promise<void> {
  const until = performance.now() + OBSERVED_WITHIN_MS;
  for (;;) {
    const now = await retry.run(() => client.find<Scaled>(resource, { name, namespace }));
    const { observedGeneration, replicas = 0 } = now?.status ?? {};
    // No controller has ever observed it: there is nothing to wait for.
    if (now === undefined || observedGeneration === undefined) return;
    const isObserved = observedGeneration >= (now.metadata.generation ?? 0);
    if (isObserved && (resource.kind !== 'Deployment' || replicas === 0)) return;
    if (performance.now() > until || retry.isOver) return;
    await sleep(LOOK_MS);
  }
}
