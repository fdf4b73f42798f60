/**
 * The address of a Vip or an EIP does not change, and a different request in its spec stays there, so that it can be reported: no
 * controller overwrites it. Read from writes to the API server, without a rule.
 */
import { formatAddress, parseAddress } from '../../../src/net/address.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore } from '../../../lab/apiserver/store.ts';
import type { Finding, Check } from './check.ts';

const KINDS: ReadonlySet<string> = new Set(['vips.kubeovn.io', 'ovn-eips.kubeovn.io', 'iptables-eips.kubeovn.io']);
const REQUESTED = ['subnet', 'externalSubnet', 'v4ip', 'v6ip', 'v4Ip', 'v6Ip', 'type'] as const;
const ALLOCATED = ['v4ip', 'v6ip', 'v4Ip', 'v6Ip', 'ip', 'type'] as const;

export class StableAddresses implements Check {
  readonly #findings: Finding[] = [];
  /** Uids of those whose status a user wrote: a controller may repair it. */
  readonly #edited = new Set<string>();

  /** @param byHand whether a user acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    store.watchAll(({ type, table, object, previous }) => {
      if (!KINDS.has(table) || type !== 'MODIFIED' || previous?.metadata.uid !== object.metadata.uid) return;
      const { uid, name } = object.metadata;
      const changed = (part: 'spec' | 'status', fields: readonly string[]): readonly string[] =>
        fields.flatMap((field) => {
          const [before, after] = [textOf(previous, part, field), textOf(object, part, field)];
          return before === '' || before === after ? [] : [`${part}.${field} was "${before}", and a controller changed it to "${after}"`];
        });
      const [requested, allocated] = [changed('spec', REQUESTED), changed('status', ALLOCATED)];
      if (byHand()) {
        if (allocated.length > 0 || JSON.stringify(previous.metadata.annotations) !== JSON.stringify(object.metadata.annotations))
          this.#edited.add(uid);
        return;
      }
      for (const what of [...requested, ...(this.#edited.has(uid) ? [] : allocated)])
        this.#findings.push({ kind: `I1 overwritten ${object.kind}`, message: `I1: ${object.kind} ${name}: ${what}` });
    });
  }

  whenConverged(): readonly Finding[] {
    return this.#findings.splice(0);
  }
}

/** The text of a field; an address in its canonical form. */
function textOf(object: KubeObject, part: 'spec' | 'status', field: string): string {
  const text = ((object[part] ?? {}) as Readonly<Record<string, unknown>>)[field];
  const address = typeof text === 'string' ? parseAddress(text) : undefined;
  return address !== undefined ? formatAddress(address) : typeof text === 'string' ? text : '';
}
