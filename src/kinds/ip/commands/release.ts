/**
 * `kiln release`: frees the unused address of an IP object, a Vip or an EIP, after it has checked twice that nothing uses it. The deletion
 * has the checked resourceVersion as a precondition, so a pod that begins to use the address in between does not lose it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isKubeError } from '../../../kube/errors.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import type { KubeObject } from '../../../kube/resource.ts';
import { conditionOf } from '../../../world/conditions.ts';
import { traitsOf } from '../../../world/resources.ts';
import type { ClusterFlags, CommandIo } from '../../../cli/connection/cluster-command.ts';
import { patienceMs } from '../../../cli/connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../../../cli/errors/command-failure.ts';
import type { SettingsFlags } from '../../../cli/cluster/leader.ts';
import { settingsFor } from '../../../cli/cluster/leader.ts';
import type { AddressToRelease } from './address-to-release.ts';
import { addressToRelease } from './address-to-release.ts';
import { commandText } from '../../../text/command-text.ts';

export interface ReleaseFlags extends ClusterFlags, SettingsFlags {
  readonly yes?: boolean;
}

const LOOK_MS = 250;

/**
 * @param target name of an IP object, or `<kind>/<name>` of a Vip or an EIP
 * @returns the exit code
 */
export async function release(target: string, flags: ReleaseFlags, io: CommandIo): Promise<number> {
  const first = await unused(target, flags, io);
  const address = first.address === '' ? 'no address yet' : first.address;
  io.say(`release ${target}: ${address} of Subnet ${first.subnet}; nothing uses it`);
  if (flags.dryRun === 'client') {
    io.out(first.output(flags.output));
    return EXIT.fine;
  }
  if (flags.yes !== true && flags.dryRun === 'none') {
    if (io.ask === undefined)
      throw new CommandFailure(
        EXIT.usage,
        `${target} was not released`,
        'there is no terminal for the confirmation',
        commandText`kiln release ${target} --yes`,
      );
    if (!(await io.ask('Release it?'))) {
      io.say('nothing was changed');
      return EXIT.findings;
    }
  }
  const named = await unused(target, flags, io);
  const { name, uid, resourceVersion } = named.object.metadata;
  let left: KubeObject | undefined;
  try {
    left = await io.client.delete(traitsOf(named.resource), { name }, { uid, resourceVersion, dryRun: flags.dryRun === 'server' });
  } catch (error) {
    if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_PRECONDITION')) throw error;
    throw new CommandFailure(
      EXIT.findings,
      `${target} was not released`,
      'it changed after the check: another object may use it now',
      commandText`kiln release ${target}`,
    );
  }
  if (left !== undefined && flags.wait && flags.dryRun === 'none') await untilGone(named, flags, io.client);
  io.out(named.output(flags.output));
  io.say(`released ${address}; to reserve it again: ${named.undo}`);
  return EXIT.fine;
}

/**
 * The object with the unused address.
 * @throws CommandFailure if the address is in use; it names the users
 */
async function unused(target: string, flags: ReleaseFlags, io: CommandIo): Promise<AddressToRelease> {
  const named = await addressToRelease(target, io.client, () => settingsFor(flags, io));
  const users = await named.users();
  if (users.length > 0)
    throw new CommandFailure(
      EXIT.findings,
      `${target} is in use and was not released`,
      `${named.address} of Subnet ${named.subnet} is used by ${users.slice(0, 10).join(', ')}${users.length > 10 ? ` and ${users.length - 10} more` : ''}`,
      `delete what uses it first; then ${commandText`kiln release ${target}`}`,
    );
  return named;
}

async function untilGone({ resource, object }: AddressToRelease, flags: ReleaseFlags, client: KubeClient): Promise<void> {
  const { name, uid } = object.metadata;
  const traits = traitsOf(resource);
  const until = performance.now() + patienceMs(flags);
  for (;;) {
    const now = await client.find(traits, { name });
    if (now === undefined || now.metadata.uid !== uid) return;
    const blocked = conditionOf(resource, now as Parameters<typeof conditionOf>[1], 'DeletionBlocked')?.message;
    if (performance.now() > until)
      throw new CommandFailure(
        EXIT.timeout,
        `${traits.kind} ${name} is being deleted and not gone yet`,
        blocked ?? 'no controller has removed its finalizer',
        commandText`kubectl get ${traits.plural} ${name} -o yaml`,
      );
    await sleep(LOOK_MS);
  }
}
