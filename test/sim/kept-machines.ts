/**
 * The address of a virtual machine that was there when all was quiet stays while the machine is there, also while it is stopped, where nobody changed meanwhile
 * what that follows from. Read from objects alone, by no rule.
 */
import { FINALIZER, kilnAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../src/lab/apiserver/store.ts';
import { IPS, isAccepted, specOf, SUBNETS, text } from './holders.ts';
import type { Finding } from './judge.ts';
import { isDecisive } from './newcomers.ts';

const MACHINES = 'virtualmachines.kubevirt.io';

interface Kept {
  /** `<namespace>/<name>` of the machine. */
  readonly machine: string;
  readonly uid: string;
}

export class KeptMachines {
  readonly #store: ObjectStore;
  readonly #byHand: () => boolean;
  readonly #findings: Finding[] = [];
  /** By uid of the IP object. */
  readonly #kept = new Map<string, Kept>();

  /** @param byHand whether a person acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    this.#store = store;
    this.#byHand = byHand;
    store.watchAll((event) => this.#look(event));
  }

  /** All is quiet and judged. */
  remember(): void {
    this.#kept.clear();
    for (const ip of this.#store.list(IPS)) {
      const { uid, deletionTimestamp, finalizers = [], annotations = {} } = ip.metadata;
      const { podType, podName, namespace, subnet } = specOf(ip);
      const isPlain = annotations[kilnAnnotation.conditions] === undefined && annotations[kilnAnnotation.lease] === undefined;
      if (podType !== 'VirtualMachine' || deletionTimestamp !== undefined || !finalizers.includes(FINALIZER) || !isPlain) continue;
      const machine = `${text(namespace)}/${text(podName)}`;
      const owner = annotations[kilnAnnotation.ownerUid];
      const object = this.#store.get(MACHINES, machine);
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) continue;
      if (owner !== undefined && owner !== object.metadata.uid) continue;
      if (this.#serves(text(subnet), text(namespace))) this.#kept.set(uid, { machine, uid: object.metadata.uid });
    }
  }

  judge(): readonly Finding[] {
    return this.#findings.splice(0);
  }

  #serves(name: string, namespace: string): boolean {
    const subnet = this.#store.get(SUBNETS, name);
    const policy = this.#store.get('namespaces', namespace)?.metadata.annotations?.[kilnAnnotation.misbound] ?? 'report';
    return subnet !== undefined && subnet.metadata.deletionTimestamp === undefined && isAccepted(subnet) && policy === 'report';
  }

  #look(event: StoreEvent): void {
    if (this.#kept.size === 0) return;
    const { type, table, object } = event;
    if (isDecisive(event)) this.#kept.clear();
    else if (this.#byHand()) this.#touched(table, object, type === 'DELETED' || object.metadata.deletionTimestamp !== undefined);
    else if (table === IPS && (type === 'DELETED' || object.metadata.deletionTimestamp !== undefined)) this.#letGo(object);
  }

  /** A person edits the IP object or the machine, or a pod of it says where it is to be. Its instance and its pods may go. */
  #touched(table: string, { metadata }: KubeObject, isGoing: boolean): void {
    if (table === IPS) this.#kept.delete(metadata.uid);
    const { annotations = {}, namespace = '', name } = metadata;
    const asks = Object.keys(annotations).some((key) => key.includes('kubernetes.io/') || key.includes('networks'));
    const owners = table === 'pods' && asks && !isGoing ? (metadata.ownerReferences ?? []).map((owner) => owner.name) : [];
    const about = [...owners, ...(table === MACHINES ? [name] : [])].map((one) => `${namespace}/${one}`);
    for (const [uid, { machine }] of this.#kept) if (about.includes(machine)) this.#kept.delete(uid);
  }

  #letGo({ metadata: { uid, name } }: KubeObject): void {
    const kept = this.#kept.get(uid);
    const machine = kept === undefined ? undefined : this.#store.get(MACHINES, kept.machine);
    this.#kept.delete(uid);
    if (kept === undefined || machine?.metadata.uid !== kept.uid || machine.metadata.deletionTimestamp !== undefined) return;
    this.#findings.push({
      kind: 'I6 machine',
      message: `I6: IP ${name} is let go, and virtual machine ${kept.machine}, whose address it has, is there`,
    });
  }
}
