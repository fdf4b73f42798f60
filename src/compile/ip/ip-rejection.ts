/**
 * An IP object that the API server refused to make, or to complete. Its address is nobody's until it is tried again: a reservation is for
 * the time between an answer and the IP object that follows from it, and none follows.
 */
import type { IP } from '../../api/kinds/ip.ts';
import type { World } from '../../world/world.ts';
import { writeRejection } from '../write-rejection.ts';

export interface IpRejection {
  readonly message: string;
  /** It is not tried now. */
  readonly rests: boolean;
}

/**
 * @param uid of the pod or node that it is made for
 * @param who that is, as it is told
 * @param kept whether its address is its own all the same
 */
export function ipRejection(world: World, name: string, uid: string, who: string, kept: boolean): IpRejection | undefined {
  return told(writeRejection(world, 'ips', name, 'create', uid), `${who}: IP ${name} cannot be made`, kept);
}

/** Of one that is there, and does not say yet what it should. */
export function ipPatchRejection(world: World, { metadata }: IP, who: string, kept: boolean): IpRejection | undefined {
  const { name, uid } = metadata;
  return told(writeRejection(world, 'ips', name, 'object', uid), `${who}: IP ${name} cannot be written`, kept);
}

function told(refusal: ReturnType<typeof writeRejection>, what: string, kept: boolean): IpRejection | undefined {
  if (refusal === undefined) return undefined;
  const { said, next, rests } = refusal;
  return { message: `${what}, ${said}; ${kept ? 'it keeps its address' : 'it has no address'}, and ${next}`, rests };
}
