/**
 * An IP object that the API server refused to make. Its address is nobody's until it is tried again: a reservation is for the time between
 * an answer and the IP object that follows from it, and none follows.
 */
import type { World } from '../../world/world.ts';

export interface IpRefusal {
  readonly message: string;
  /** It is not tried now. */
  readonly rests: boolean;
}

/**
 * @param who the pod or node that it is made for, as it is told
 * @param kept whether its address is its own all the same
 */
export function ipRefusal(world: World, name: string, uid: string, who: string, kept: boolean): IpRefusal | undefined {
  const refused = world.refusedIps.get(name);
  if (refused?.uid !== uid) return undefined;
  const { message, until } = refused;
  const address = kept ? 'it keeps its address' : 'it has no address';
  return {
    message: `${who}: IP ${name} cannot be made, the API server says: ${message}; ${address}, and this is tried again by itself within about a minute; ${lookAt(message)}`,
    rests: !world.deadlines.passed(until),
  };
}

function lookAt(message: string): string {
  const user = /User "([^"]+)" cannot create/.exec(message)?.[1];
  if (user !== undefined) return `kubectl auth can-i create ips.kubeovn.io --as ${user}`;
  return 'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies';
}
