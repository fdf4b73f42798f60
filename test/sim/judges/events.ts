/**
 * Events: what is so and is to be told was told. A report by the leader, however often that changed; the Event of a condition by the
 * process that wrote it, unless that ended before it could, or never heard that it was written. What a controller left out on purpose (too many of one object) is known.
 */
import { POD_EVENTS } from '../../../src/api/kube-ovn-events.ts';
import { kilnAnnotation } from '../../../src/api/well-known.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../../lab/apiserver/store.ts';
import { factKey } from '../cluster/fact-key.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { Finding, Judge, Rest } from './judge.ts';

interface EventFields {
  readonly involvedObject?: { readonly uid?: string };
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
}

const KUBE_OVN_REASONS: ReadonlySet<string> = new Set(Object.values(POD_EVENTS));

/**
 * The reason and the message of the condition that an Event is about: with a reason of Kube-OVN, the message begins with that of the condition. A pod
 * that comes into use has an Event of Kube-OVN's reason, one in use an Event of Kiln's: they report the same.
 */
function causeOf(reason: string, message: string): { readonly reason: string; readonly message: string } {
  const at = KUBE_OVN_REASONS.has(reason) ? message.indexOf(': ') : -1;
  return at === -1 ? { reason, message } : { reason: message.slice(0, at), message: message.slice(at + 2) };
}

/** A message is cut in an Event; what is left of it without Kube-OVN's head is at least so long. */
const COMPARED = 900;

function causeKey(uid: string, event: { readonly reason: string; readonly message: string }): string {
  const { reason, message } = causeOf(event.reason, event.message);
  return `${uid} ${reason} ${message.slice(0, COMPARED)}`;
}

export function unsaid({ cluster: { lab, dropped, killed, faults }, fresh }: Rest): readonly Finding[] {
  const said = new Set<string>();
  const reasons = new Set<string>();
  for (const object of lab.store.list('events')) {
    const { involvedObject, reason = '', message = '' } = object as unknown as EventFields;
    const uid = involvedObject?.uid ?? '';
    said.add(causeKey(uid, { reason, message }));
    reasons.add(`${uid} ${causeOf(reason, message).reason}`);
  }
  for (const key of dropped) reasons.add(key.split(' ', 2).join(' '));
  // Events of a Namespace that is being deleted go before pods whose node is lost.
  const leaving = new Set(
    lab.store
      .list('namespaces')
      .flatMap(({ metadata: { name, deletionTimestamp } }) =>
        deletionTimestamp === undefined ? [] : lab.store.list('pods', name).map(({ metadata }) => metadata.uid),
      ),
  );
  const findings: Finding[] = [];
  for (const fact of fresh.facts()) {
    const { uid, reason, message, of } = fact;
    if (leaving.has(uid) || (of !== 'report' && (killed || faults.repliesLost))) continue;
    if (
      said.has(causeKey(uid, fact)) ||
      dropped.has(factKey(fact)) ||
      (of === 'transition' && reasons.has(`${uid} ${causeOf(reason, message).reason}`))
    )
      continue;
    findings.push({ kind: `unsaid ${of}`, message: `no Event says what is so: ${reason} ${message} (a ${of} of uid ${uid})` });
  }
  return findings;
}

interface Told {
  readonly status: string;
  readonly reason: string;
  readonly text: string;
  /** When it became so, as it says. */
  readonly since: string;
}

const BLOCKED = 'DeletionBlocked';

/** How often each condition of each object changed: an Event says so once per change, and not again. */
export class ConditionChanges implements Judge {
  readonly #now = new Map<string, Map<string, Told>>();
  /** By `<uid> <reason>`. */
  readonly #changes = new Map<string, number>();
  readonly #findings: Finding[] = [];
  /** What was being deleted and kept by something, and is kept by nothing any more: by uid, as people know it. */
  readonly #unblocked = new Map<string, string>();

  /** @param byHand whether a person acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    store.watchAll((event) => this.#look(event, byHand()));
  }

  #look({ type, object, previous }: StoreEvent, byHand: boolean): void {
    if (type === 'MODIFIED' && previous !== undefined && saysTheSame(object, previous)) return;
    const { uid } = object.metadata;
    const before = this.#now.get(uid);
    const after = type === 'DELETED' ? [] : conditionsIn(object);
    if (before === undefined && after.length === 0) return;
    const now = new Map<string, Told>();
    for (const { type: name, status, reason = '', message = '', lastTransitionTime = '' } of after) {
      const told = { status, reason, text: `${status} ${reason} ${message} ${lastTransitionTime}`, since: lastTransitionTime };
      const was = before?.get(name);
      now.set(name, told);
      // A pod's are written over what was not seen: its kubelet changes it all the time.
      if (object.kind !== 'Pod' && was?.status === status && was.since !== lastTransitionTime)
        this.#findings.push({
          kind: 'condition since',
          message: `condition ${name} of ${object.kind} ${object.metadata.name} is ${status} as before, and says since ${lastTransitionTime} instead of ${was.since}`,
        });
      // Who holds what is to go is a list that gets shorter: only that it is held is told, and by what kind of thing.
      if (name === BLOCKED ? was?.status !== status || was.reason !== reason : was?.text !== told.text) this.#count(`${uid} ${reason}`);
    }
    const wasBlocked = before?.get(BLOCKED)?.status === 'True' && object.metadata.deletionTimestamp !== undefined;
    if (wasBlocked && !byHand && now.get(BLOCKED)?.status !== 'True') this.#unblocked.set(uid, `${object.kind} ${object.metadata.name}`);
    if (type === 'DELETED') this.#now.delete(uid);
    else this.#now.set(uid, now);
  }

  atRest({ cluster }: Rest): readonly Finding[] {
    // A process that begins to lead says once more what was written lately, whether or not that was said.
    return [...this.#findings.splice(0), ...this.#goneInSilence(cluster), ...this.#repeated(cluster, cluster.terms - 1)];
  }

  /** Who saw that an object is kept waits to hear that it goes. */
  #goneInSilence({ lab, dropped, killed, faults }: SimulatedCluster): readonly Finding[] {
    const waiting = [...this.#unblocked];
    this.#unblocked.clear();
    if (waiting.length === 0 || killed || faults.repliesLost) return [];
    const told = new Set([...dropped].map((key) => key.split(' ', 2).join(' ')));
    for (const event of lab.store.list('events')) {
      const { involvedObject, reason = '' } = event as unknown as EventFields;
      told.add(`${involvedObject?.uid ?? ''} ${reason}`);
    }
    return waiting
      .filter(([uid]) => !told.has(`${uid} DeletionUnblocked`))
      .map(([, who]) => ({ kind: 'unsaid unblocked', message: `${who} was kept from going, and no Event says that it is not any more` }));
  }

  #count(key: string): void {
    this.#changes.set(key, (this.#changes.get(key) ?? 0) + 1);
  }

  /** @param slack how often each may be said once more */
  #repeated({ lab }: SimulatedCluster, slack: number): readonly Finding[] {
    const said = new Map<string, { count: number; message: string }>();
    for (const object of lab.store.list('events')) {
      const { involvedObject, reason = '', message = '', count = 1 } = object as unknown as EventFields;
      const uid = involvedObject?.uid ?? '';
      // What was to be written on an object that goes with the same write is told, and nowhere to be read.
      if (!this.#now.has(uid)) continue;
      const key = `${uid} ${causeOf(reason, message).reason}`;
      if (this.#changes.has(key)) said.set(key, { count: (said.get(key)?.count ?? 0) + count, message });
    }
    return [...said].flatMap(([key, { count, message }]) => {
      const changes = this.#changes.get(key) ?? 0;
      return count <= changes + slack
        ? []
        : [{ kind: 'repeated Event', message: `Events say ${count} times what came about ${changes} times: ${key} ${message}` }];
    });
  }
}

interface ToldCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** Surely: most writes leave what conditions are in as it was. */
function saysTheSame(object: KubeObject, previous: KubeObject): boolean {
  const written = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[kilnAnnotation.conditions];
  return object['status'] === previous['status'] && written(object) === written(previous) && object.metadata.uid === previous.metadata.uid;
}

function conditionsIn(object: KubeObject): readonly ToldCondition[] {
  const { conditions = [] } = (object['status'] ?? {}) as { readonly conditions?: readonly ToldCondition[] };
  const written = object.metadata.annotations?.[kilnAnnotation.conditions];
  if (written === undefined) return conditions;
  try {
    return [...conditions, ...(JSON.parse(written) as readonly ToldCondition[])];
  } catch {
    return conditions;
  }
}
