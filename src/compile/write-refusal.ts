/**
 * A write that the API server refused: a policy of somebody, a webhook that does not answer, rights that are missing. Who waits for it says
 * so in a condition of its own; all others are told by an Event, which is no write of the object.
 */
import type { RejectedWrite, WritePart } from '../world/rejected-writes.ts';
import { rejectionKey } from '../world/rejected-writes.ts';
import { keysOf } from '../world/domain.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import type { Rule } from './compiler.ts';
import type { Output } from './output.ts';
import { commandText } from '../text/command-text.ts';

export interface WriteRefusal {
  /** What the server said. */
  readonly said: string;
  /** When it is tried again, and what to do next. */
  readonly next: string;
  /** It is not tried now. */
  readonly rests: boolean;
}

/** @param uid of the object; of one that is to be made, of whom it is for */
export function writeRefusal(world: World, resource: ResourceName, key: string, part: WritePart, uid: string): WriteRefusal | undefined {
  const refused = world.rejectedWrites.get(rejectionKey(resource, key, part));
  if (refused?.uid !== uid) return undefined;
  const { message, until } = refused;
  return { ...saying(message), rests: !world.deadlines.passed(until) };
}

function saying(message: string): Pick<WriteRefusal, 'said' | 'next'> {
  return {
    said: `the API server says: ${message}`,
    next: `this is tried again by itself within half a minute; ${lookAt(message)}`,
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
  create: 'be made',
  object: 'be written',
  status: 'have its status written',
  release: 'be let go',
  delete: 'be deleted',
};

/** What an interface or an address waits for is said by who waits; the pod says in its condition what of itself is refused. */
function isReportedElsewhere({ resource, part }: RejectedWrite): boolean {
  return part === 'create' || (part === 'object' && (resource === 'pods' || ADDRESSES.has(resource)));
}

const ADDRESSES: ReadonlySet<ResourceName> = new Set<ResourceName>(['vips', 'ovn-eips', 'iptables-eips']);

export const writeRefusedNotice: Rule = {
  name: 'write-refused',
  over: (world) => keysOf(world.rejectedWrites),
  run: (world, id): readonly Output[] => {
    const refused = world.rejectedWrites.get(id);
    if (refused === undefined || isReportedElsewhere(refused)) return [];
    const { resource, key, part, uid, message } = refused;
    if (world.tables[resource]?.get(key)?.metadata.uid !== uid) return [];
    const { said, next } = saying(message);
    const text = `${traitsOf(resource).kind} ${key} cannot ${CANNOT[part]}, ${said}; ${next}`;
    return [{ kind: 'notice', resource, key, uid, type: 'Warning', reason: 'WriteRefused', message: text }];
  },
};
