/** Whether an account may read all that an audit judges, asked before anything is read: what cannot be read looks as if it did not exist. */
import { GROUP } from '../../api/schema/kind.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { Resource } from '../../kube/resource.ts';
import { commandText } from '../../text/command-text.ts';
import { RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';

/** @throws CommandFailure without a right, or in a cluster that has no Kube-OVN */
export async function refuseUnreadable({ client }: Pick<CommandIo, 'client'>): Promise<void> {
  // Those of which one object alone is read are optional settings.
  const kinds: readonly Resource[] = RESOURCE_NAMES.map(traitsOf).filter(({ only }) => only === undefined);
  const answers = await Promise.all(
    kinds.map(async (kind) => {
      try {
        await client.list(kind, { limit: 1 });
        return undefined;
      } catch (error) {
        if (isKubeError(error, 'KUBE_FORBIDDEN')) return { kind, what: 'forbidden' } as const;
        if (isKubeError(error, 'KUBE_NOT_SERVED')) return { kind, what: 'not served' } as const;
        throw error;
      }
    }),
  );
  const forbidden = answers.flatMap((one) => (one?.what === 'forbidden' ? [nameOf(one.kind)] : []));
  if (forbidden.length > 0)
    throw new CommandFailure(
      EXIT.unreachable,
      'this account may not read everything: nothing is judged',
      `it may not list ${forbidden.join(', ')}; without them, what they use would look unused`,
      commandText`bind it a ClusterRole with get, list and watch of these; kubectl auth can-i list ${forbidden[0] ?? ''}`,
    );
  const [first] = kinds.filter(({ group }) => group === GROUP);
  if (first !== undefined && answers.some((one) => one?.what === 'not served' && one.kind === first))
    throw new CommandFailure(
      EXIT.unreachable,
      'this cluster has no Kube-OVN, nor Kiln',
      `the API server does not serve ${nameOf(first)}`,
      'kubectl config get-contexts: another cluster may be meant (--context NAME)',
    );
}

function nameOf({ plural, group }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`;
}
