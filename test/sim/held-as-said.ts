/**
 * Who is named where a deletion waits: an object that is being deleted says who holds it, all of them while they are ten at most, and nobody who is not in it. A holder
 * that is left out goes unseen while there is another, and lets it go too early when that one leaves; one that is no holder keeps it for ever. By
 * what objects say, without asking any rule or the table of what holds what.
 */
import { FINALIZER, kilnAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { claimsOf, HELD, HOLDING, IPS, isAccepted, specOf, SUBNETS, text } from './holders.ts';
import type { Finding } from './judge.ts';

const VPCS = 'vpcs.kubeovn.io';
const POOLS = 'ippools.kubeovn.io';
/** As a sentence lists them; it names ten at most. */
const LIST =
  /cannot be deleted: (?:one object still uses it|(\d+) objects still use it): (.+?)(?: and (\d+) more)?\. (?:It goes|The cluster)/;
const LONGEST = 10;

/** @param hasRow whether there is such a row of an object's own */
export function heldAsSaid(store: ObjectStore, hasRow: (uid: string, name: string, table: string) => boolean): readonly Finding[] {
  const waiting = [...HELD]
    .filter((table) => table !== POOLS)
    .flatMap((table) =>
      store
        .list(table)
        .filter(waits)
        .map((object) => ({ table, object })),
    );
  if (waiting.length === 0) return [];
  const holders = Map.groupBy(
    HOLDING.flatMap((table) =>
      store
        .list(table)
        .flatMap((object) =>
          claimsOf(table, object, (of, name) => hasRow(object.metadata.uid, name, of)).map((held) => ({ table, object, held })),
        ),
    ),
    ({ held }) => held,
  );
  return waiting.flatMap(({ table, object }) => {
    const waitsFor = namedBy(object);
    // Another program's row is in its way: of that `check-invariants` knows.
    if (waitsFor === undefined) return [];
    const { named, count, listed } = waitsFor;
    const { kind } = object;
    const { name } = object.metadata;
    const claims = (holders.get(`${table} ${name}`) ?? []).filter((one) => holdsByItself(store, table, object, one.table, one.object));
    const lacking = claims.map((one) => nameOf(one.object)).filter((one) => !named.includes(one));
    const lacks = lacking.length === 0 || claims.length > LONGEST || named.length === LONGEST ? [] : lacking;
    const strange = table === SUBNETS ? named.filter((one) => isElsewhere(store, one, name)) : [];
    return [
      ...(count !== listed || count < claims.length
        ? [told(kind, name, 'count', `says that ${count} hold it, tells of ${listed}, and ${claims.length} say to be in it`)]
        : []),
      ...strange.map((one) => told(kind, name, 'strange', `is held by ${one}, which is in another one`)),
      ...lacks.map((one) =>
        told(kind, name, 'lacks', `is being deleted and says that ${named.join(', ')} hold it, and ${one} is in it too`),
      ),
      ...(table === VPCS
        ? late(store, object, named, hasRow).map((one) =>
            told(kind, name, 'late', `is held by ${one}, which came after and has nothing there`),
          )
        : []),
    ];
  });
}

function told(kind: string, name: string, what: string, sentence: string): Finding {
  return { kind: `I5 holders ${kind} ${what}`, message: `I5: ${kind} ${name} ${sentence}` };
}

function waits({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean {
  return deletionTimestamp !== undefined && finalizers.includes(FINALIZER);
}

function nameOf({ kind, metadata: { name, namespace = '' } }: KubeObject): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
}

interface Said {
  readonly type?: string;
  readonly status?: string;
  readonly message?: string;
}

interface Waiting {
  /** The first ten. */
  readonly named: readonly string[];
  /** How many there are, as the sentence begins, and as it goes on. */
  readonly count: number;
  readonly listed: number;
}

/** Of a kind without conditions they are in an annotation. Undefined where no object is named. */
function namedBy({ status, metadata: { annotations = {} } }: KubeObject): Waiting | undefined {
  const own = (status as { readonly conditions?: readonly Said[] } | undefined)?.conditions ?? [];
  const kept = annotations[kilnAnnotation.conditions];
  const conditions = [...own, ...(kept === undefined ? [] : (JSON.parse(kept) as readonly Said[]))];
  const blocked = conditions.find(({ type, status: is }) => type === 'DeletionBlocked' && is === 'True');
  const [, count = '1', names, more = '0'] = LIST.exec(blocked?.message ?? '') ?? [];
  if (names === undefined) return undefined;
  const named = names.split(', ');
  return { named, count: Number(count), listed: named.length + Number(more) };
}

/** A pod or a rule holds what is above its IP object or its EIP only where that does not say so itself. */
function holdsByItself(store: ObjectStore, table: string, held: KubeObject, by: string, holder: KubeObject): boolean {
  const { name, namespace = '' } = holder.metadata;
  if (table === IPS) return `${text(specOf(held)['namespace'])}/${text(specOf(held)['podName'])}` === `${namespace}/${name}`;
  if (table !== SUBNETS || !(by === 'pods' || by === 'nodes' || by.includes('-rules') || by.includes('-fips'))) return true;
  return false;
}

function isElsewhere(store: ObjectStore, named: string, subnet: string): boolean {
  const ip = named.startsWith('IP ') ? store.get(IPS, named.slice('IP '.length)) : undefined;
  return ip !== undefined && text(specOf(ip)['subnet']) !== subnet;
}

/** Subnets that came after the Vpc was deleted, were refused, and have nothing there. */
function late(
  store: ObjectStore,
  { metadata: { deletionTimestamp = '' } }: KubeObject,
  named: readonly string[],
  hasRow: (uid: string, name: string, table: string) => boolean,
): readonly string[] {
  return named.filter((one) => {
    const subnet = one.startsWith('Subnet ') ? store.get(SUBNETS, one.slice('Subnet '.length)) : undefined;
    if (subnet === undefined || subnet.metadata.creationTimestamp <= deletionTimestamp || isAccepted(subnet)) return false;
    return !hasRow(subnet.metadata.uid, subnet.metadata.name, 'Logical_Switch');
  });
}
