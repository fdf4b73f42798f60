/**
 * The API server rejected the create or patch of an IP object. Its address is free until the next attempt: a reservation holds an address
 * only until its IP object is observed, and this one is not created.
 */
import type { IP } from '../../api/kinds/ip.ts';
import type { World } from '../../world/world.ts';
import { writeRejection } from '../write-rejection.ts';

export interface IpRejection {
  readonly message: string;
  /** The next try is not due yet. */
  readonly inBackoff: boolean;
}

/**
 * @param uid of the pod or node that it is for
 * @param subject kind and name of that object for the message
 * @param kept whether it keeps its address anyway
 */
export function ipRejection(world: World, name: string, uid: string, subject: string, kept: boolean): IpRejection | undefined {
  return rejectionOf(writeRejection(world, 'ips', name, 'create', uid), `${subject}: IP ${name} cannot be created`, kept);
}

/** For an existing IP object that needs a patch. */
export function ipPatchRejection(world: World, { metadata }: IP, subject: string, kept: boolean): IpRejection | undefined {
  const { name, uid } = metadata;
  return rejectionOf(writeRejection(world, 'ips', name, 'object', uid), `${subject}: IP ${name} cannot be written`, kept);
}

function rejectionOf(rejection: ReturnType<typeof writeRejection>, what: string, kept: boolean): IpRejection | undefined {
  if (rejection === undefined) return undefined;
  const { cause, next, inBackoff } = rejection;
  return { message: `${what}, ${cause}; ${kept ? 'it keeps its address' : 'it has no address'}, and ${next}`, inBackoff };
}
