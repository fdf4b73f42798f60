/**
 * Writes that the API server rejected, by a policy, a webhook that does not answer, or missing rights. An object that waits for such a
 * write reports it in its own condition. All others get an Event, which needs no write of the object.
 */
import type { RejectedWrite, WritePart } from '../world/rejected-writes.ts';
import { rejectionKey } from '../world/rejected-writes.ts';
import { keysOf } from '../engine/domain.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import type { Rule } from './rule.ts';
import type { Output } from './output.ts';
import { commandText } from '../text/command-text.ts';

export interface WriteRejection {
  /** What the API server answered, as a clause. */
  readonly cause: string;
  /** When Kiln tries again, and the next command. */
  readonly next: string;
  /** The next try is not due yet. */
  readonly inBackoff: boolean;
}

/** @param uid the object's; for a create, that of the object that needs it */
export function writeRejection(
  world: World,
  resource: ResourceName,
  key: string,
  part: WritePart,
  uid: string,
): WriteRejection | undefined {
  const rejected = world.rejectedWrites.get(rejectionKey(resource, key, part));
  if (rejected?.uid !== uid) return undefined;
  const { message, until } = rejected;
  return { ...texts(message), inBackoff: !world.deadlines.passed(until) };
}

function texts(message: string): Pick<WriteRejection, 'cause' | 'next'> {
  return {
    cause: `the API server says: ${message}`,
    next: `Kiln tries again within half a minute; ${lookAt(message)}`,
  };
}

const RIGHTS = /User "([^"]+)" cannot (\w+) resource "([^"]+)" in API group "([^"]*)"/;

function lookAt(message: string): string {
  const [, user, verb = '', resource = '', group] = RIGHTS.exec(message) ?? [];
  if (user === undefined) return 'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies';
  const [plural, subresource] = resource.split('/');
  const of = group === '' ? (plural ?? '') : `${plural}.${group}`;
  return commandText`kubectl auth can-i ${verb} ${of} ${subresource === undefined ? [] : ['--subresource', subresource]} --as ${user}`;
}

const CANNOT: Readonly<Record<WritePart, string>> = {
  create: 'be created',
  object: 'be written',
  status: 'have its status written',
  release: 'have its finalizer removed',
  delete: 'be deleted',
};

/** Whether another condition reports it: an interface or an address reports what it waits for, and a pod its own rejected writes. */
function isReportedElsewhere({ resource, part }: RejectedWrite): boolean {
  return part === 'create' || (part === 'object' && traitsOf(resource).reportsRejections === true);
}

export const writeRejectedReport: Rule = {
  name: 'write-rejected',
  over: (world) => keysOf(world.rejectedWrites),
  run: (world, id): readonly Output[] => {
    const rejected = world.rejectedWrites.get(id);
    if (rejected === undefined || isReportedElsewhere(rejected)) return [];
    const { resource, key, part, uid, message } = rejected;
    if (world.tables[resource]?.get(key)?.metadata.uid !== uid) return [];
    const { cause, next } = texts(message);
    const text = `${traitsOf(resource).kind} ${key} cannot ${CANNOT[part]}, ${cause}; ${next}`;
    return [{ kind: 'report', resource, key, uid, type: 'Warning', reason: 'WriteRefused', message: text }];
  },
};
