/** One interface that a container runtime asked for. */
import type { RouteRequest } from '../../cni/agent-protocol.ts';

/** `container/interface`: a request acts on these two alone. */
export type AttachmentKey = string & { readonly brand: 'AttachmentKey' };

export interface Attachment {
  readonly key: AttachmentKey;
  readonly containerId: string;
  /** In the pod's namespace: `eth0`. */
  readonly interfaceName: string;
  /** Path of the pod's network namespace. */
  readonly namespacePath: string;
  readonly pod: { readonly namespace: string; readonly name: string };
  /** Of the pod that it is for, if the runtime said so. */
  readonly podUid?: string;
  readonly provider: string;
  readonly routes: readonly RouteRequest[];
  /** Later requests have a higher number; that of an attachment found at the start is one of `RESTORED`. */
  readonly order: number;
  /** The runtime asked to remove it. */
  readonly removing?: true;
  /** The name of its device, if it is not the usual one: another container, whose id begins alike, has that. */
  readonly device?: DeviceName;
}

/** Of the attachments of one interface, which differ in their sandbox, the one whose port has the logical port is the last. */
export const RESTORED = { withLogicalPort: 0, withLinkAlone: -1, withoutLogicalPort: -2 } as const;

export function attachmentKey(containerId: string, interfaceName: string): AttachmentKey {
  return `${containerId}/${interfaceName}` as AttachmentKey;
}

/** The interface of the pod, whichever sandbox it is in. */
export function interfaceOf({ pod, provider, interfaceName }: Attachment): string {
  return `${pod.namespace}/${pod.name} ${provider} ${interfaceName}`;
}

/** A device of the node. Linux allows 15 bytes. */
export type DeviceName = string & { readonly brand: 'DeviceName' };

const LONGEST_ID = 12;
/** With a longer name of the interface too little of the container's id is left to be unique. */
const LONGEST_INTERFACE = 6;

/**
 * The node's end of an interface, as Kube-OVN names it: `<first 12 of the container>_h`, or `<container>_<interface>_h`. Where that would
 * leave fewer than six characters of the container, a hash of both.
 */
export function hostDevice(containerId: string, interfaceName: string): DeviceName {
  if (interfaceName === 'eth0') return `${containerId.slice(0, LONGEST_ID)}_h` as DeviceName;
  if (interfaceName.length > LONGEST_INTERFACE) return hashedDevice(containerId, interfaceName);
  return `${containerId.slice(0, LONGEST_ID - interfaceName.length)}_${interfaceName}_h` as DeviceName;
}

/** The same, where another container has that name. */
export function hashedDevice(containerId: string, interfaceName: string): DeviceName {
  return `${hash(`${containerId}/${interfaceName}`)}_h` as DeviceName;
}

/** The node's end of an attachment. */
export function deviceOf({ containerId, interfaceName, device }: Pick<Attachment, 'containerId' | 'interfaceName' | 'device'>): DeviceName {
  return device ?? hostDevice(containerId, interfaceName);
}

/** What an attachment has to say of its device. @param name as it was found */
export function unusualDevice(containerId: string, interfaceName: string, name: DeviceName): Pick<Attachment, 'device'> {
  return name === hostDevice(containerId, interfaceName) ? {} : { device: name };
}

/** FNV-1a of 64 bits, in 12 digits of base 36. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(36).padStart(LONGEST_ID, '0').slice(-LONGEST_ID);
}
