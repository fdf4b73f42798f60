/**
 * What a process must not ask of the API server or of the database, whatever it believes: to write while another one leads, to delete what
 * people made, to take a pod away otherwise than by an eviction that its namespace asked for.
 */
import type { IP } from '../../src/api/kinds/ip.ts';
import type { IPPoolSpec } from '../../src/api/kinds/ip-pool.ts';
import { CONTROLLER_LEASE, kilnAnnotation } from '../../src/api/well-known.ts';
import type { KubeRequest } from '../../src/kube/transport.ts';
import { parseTarget } from '../../src/lab/apiserver/request.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { TERM_KEY } from '../../src/nb/ownership.ts';
import type { SimulatedDatabase } from '../../src/ovsdb/testing/simulated/database.ts';
import type { Execution } from '../../src/ovsdb/testing/simulated/transaction.ts';

/** Kinds of which Kiln deletes objects: addresses that nobody has any more. */
const DELETED_BY_KILN: ReadonlySet<string> = new Set(['ips', 'vips', 'ovn-eips', 'iptables-eips']);

/** Who leads, as the Lease says; empty for nobody. */
export function leaderOf(store: ObjectStore): string {
  const lease = store.get('leases', `kube-system/${CONTROLLER_LEASE}`);
  return ((lease?.['spec'] ?? {}) as { readonly holderIdentity?: string }).holderIdentity ?? '';
}

/**
 * Asked when a request is sent.
 * @param evicting whether a namespace asks for evictions, or did since the last rest
 * @param takesPods whether a Subnet of a namespace may take the pod that comes instead
 * @returns what is wrong with it, as the rest of a sentence
 */
export function misdeed(
  store: ObjectStore,
  identity: string,
  { method, path }: Pick<KubeRequest, 'method' | 'path'>,
  evicting: (namespace: string) => boolean,
  takesPods: (namespace: string) => boolean,
): string | undefined {
  if (method === 'GET' || path.includes('/leases')) return undefined;
  const leader = leaderOf(store);
  if (leader !== identity) return `was sent while ${leader === '' ? 'nobody' : leader} leads`;
  const [bare = ''] = path.split('?');
  const isEviction = bare.endsWith('/eviction');
  if (method !== 'DELETE' && !isEviction) return undefined;
  const target = parseTarget(bare);
  if (method === 'DELETE' && !DELETED_BY_KILN.has(target?.plural ?? '')) return 'is none of its business: people delete that';
  if (!isEviction || target === undefined) return undefined;
  const pod = store.get('pods', `${target.namespace}/${target.name}`);
  if (pod === undefined) return undefined;
  if (pod.metadata.ownerReferences?.some(({ controller }) => controller === true) !== true)
    return 'takes a pod away that nothing makes again';
  if (!takesPods(target.namespace)) return 'takes a pod away while all Subnets of its Namespace are refused';
  if (hasNoRoom(store, target.namespace)) return 'takes a pod away while no pool of its Namespace has room';
  return evicting(target.namespace) ? undefined : `takes a pod away, and its Namespace never said ${kilnAnnotation.misbound}=evict`;
}

/** All pools of a Namespace are single addresses, each of which an IP object has had since before the pool. */
function hasNoRoom(store: ObjectStore, namespace: string): boolean {
  const pools = store
    .list('ippools.kubeovn.io')
    .filter((pool) => ((pool['spec'] as unknown as IPPoolSpec).namespaces ?? []).includes(namespace));
  return (
    pools.length > 0 &&
    pools.every(({ metadata: { creationTimestamp }, spec }) => {
      const { ips, subnet } = spec as unknown as IPPoolSpec;
      return ips.every((address) =>
        store.list('ips.kubeovn.io').some(({ metadata, spec: has }) => {
          const { v4IpAddress, subnet: home } = has as unknown as IP['spec'];
          return v4IpAddress === address && home === subnet && metadata.creationTimestamp < creationTimestamp;
        }),
      );
    })
  );
}

/**
 * A transaction under an older term fails at its fence, whatever else would have stopped it.
 * @param database before the transaction, which changed nothing where it failed
 * @returns what is wrong, as the rest of a sentence
 */
export function gotPastFence(database: SimulatedDatabase, { ok, results }: Execution, operations: readonly unknown[]): string | undefined {
  if (ok) return undefined;
  const { own, said, term } = termsOf(database, operations);
  const failed = results.findIndex((result) => typeof result === 'object' && result !== null && 'error' in result);
  return own < term && failed >= 0 && (operations[failed] as { readonly table?: string }).table !== 'NB_Global'
    ? `transaction "${said}" got past its fence while term ${term} was in force`
    : undefined;
}

/** Whether a transaction is of an older term than the one in force. */
export function isOutdated(database: SimulatedDatabase, operations: readonly unknown[]): boolean {
  const { own, term } = termsOf(database, operations);
  return own < term;
}

/** The term that a transaction is of, as its comment says, and the one in force. */
function termsOf(
  database: SimulatedDatabase,
  operations: readonly unknown[],
): { readonly own: number; readonly said: string; readonly term: number } {
  const [global] = database.rows('NB_Global');
  const ids = global?.[1]['external_ids'];
  const term = Number(ids instanceof Map ? ids.get(TERM_KEY) : undefined);
  const said = (operations as readonly { readonly comment?: string }[]).find(({ comment }) => comment !== undefined)?.comment ?? '';
  return { own: Number(/^kiln: term (\d+), /.exec(said)?.[1]), said, term };
}
