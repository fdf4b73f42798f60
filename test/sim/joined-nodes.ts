/**
 * A node keeps the address and the MAC by which it joined, as long as the join Subnet is the same one with the same network: whatever
 * is taken away meanwhile, its kubelet and every policy go by what it was told. Held against the rest before, by no rule.
 */
import { JOIN_SUBNET, podAnnotation } from '../../src/api/well-known.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { isAccepted } from './holders.ts';
import type { Finding } from './judge.ts';

export class JoinedNodes {
  readonly #store: ObjectStore;
  /** By uid of the node: what it said at the last rest. */
  #had = new Map<string, string>();
  /** The join Subnet of then. */
  #join = '';

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** All is quiet and judged. */
  remember(): void {
    this.#join = this.#joinNow();
    this.#had = new Map(this.#told().map(({ uid, text }) => [uid, text]));
  }

  judge(): readonly Finding[] {
    if (this.#join === '' || this.#join !== this.#joinNow()) return [];
    return this.#told().flatMap(({ uid, name, text }) => {
      const had = this.#had.get(uid);
      if (had === undefined || had === text) return [];
      return [{ kind: 'I1 joined', message: `I1: Node ${name} had joined with ${had}, and has ${text}` }];
    });
  }

  #told(): readonly { readonly uid: string; readonly name: string; readonly text: string }[] {
    return this.#store.list('nodes').flatMap(({ metadata: { uid, name, annotations = {} } }) => {
      const say = (suffix: 'allocated' | 'ip_address' | 'mac_address'): string => annotations[podAnnotation('ovn', suffix)] ?? '';
      return say('allocated') === 'true' ? [{ uid, name, text: `${say('ip_address')} ${say('mac_address')}` }] : [];
    });
  }

  #joinNow(): string {
    const join = this.#store.get('subnets.kubeovn.io', JOIN_SUBNET);
    const { cidrBlock = '' } = (join?.['spec'] ?? {}) as { readonly cidrBlock?: string };
    // What it asks for in vain comes into effect later.
    return join === undefined ? '' : `${join.metadata.uid} ${cidrBlock} ${isAccepted(join)}`;
  }
}
