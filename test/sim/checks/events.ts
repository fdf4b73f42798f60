/**
 * Every fact that is to be reported has an Event. A report needs one from the leader, however often it changed. A condition needs one from
 * the process that wrote it, unless that ended before it could send the Event, or never received the answer to its write. Events that a
 * controller dropped on purpose (too many about one object) are known.
 */
import { POD_EVENTS } from '../../../src/api/kube-ovn-events.ts';
import { kilnAnnotation } from '../../../src/api/well-known.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../../lab/apiserver/store.ts';
import { factKey } from '../cluster/fact-key.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { Finding, Check, ConvergedCluster } from './check.ts';

interface EventFields {
  readonly involvedObject?: { readonly uid?: string };
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
}

const KUBE_OVN_REASONS: ReadonlySet<string> = new Set(Object.values(POD_EVENTS));

/**
 * The reason and the message of the condition that an Event is about. With a reason of Kube-OVN, the Event's message is a prefix and the
 * condition's message. A pod that comes into use gets an Event of Kube-OVN's reason, one in use an Event of Kiln's: both report the same.
 */
function causeOf(reason: string, message: string): { readonly reason: string; readonly message: string } {
  const at = KUBE_OVN_REASONS.has(reason) ? message.indexOf(': ') : -1;
  return at === -1 ? { reason, message } : { reason: message.slice(0, at), message: message.slice(at + 2) };
}

/** An Event's message is cut; without Kube-OVN's prefix at least this much of it is left. */
const COMPARED = 900;

function causeKey(uid: string, event: { readonly reason: string; readonly message: string }): string {
  const { reason, message } = causeOf(event.reason, event.message);
  return `${uid} ${reason} ${message.slice(0, COMPARED)}`;
}

export function missingEvents({ cluster: { lab, dropped, killed, faults }, fresh }: ConvergedCluster): readonly Finding[] {
  const sent = new Set<string>();
  const reasons = new Set<string>();
  for (const object of lab.store.list('events')) {
    const { involvedObject, reason = '', message = '' } = object as unknown as EventFields;
    const uid = involvedObject?.uid ?? '';
    sent.add(causeKey(uid, { reason, message }));
    reasons.add(`${uid} ${causeOf(reason, message).reason}`);
  }
  for (const key of dropped) reasons.add(key.split(' ', 2).join(' '));
  // The Events of a Namespace being deleted are deleted before its pods on a lost node.
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
      sent.has(causeKey(uid, fact)) ||
      dropped.has(factKey(fact)) ||
      (of === 'transition' && reasons.has(`${uid} ${causeOf(reason, message).reason}`))
    )
      continue;
    findings.push({ kind: `missing Event ${of}`, message: `no Event reports: ${reason} ${message} (a ${of} of uid ${uid})` });
  }
  return findings;
}

interface SeenCondition {
  readonly status: string;
  readonly reason: string;
  readonly text: string;
  /** The transition time in the condition. */
  readonly since: string;
}

const BLOCKED = 'DeletionBlocked';

/** Counts how often each condition of each object changed: there is one Event for each change, and no more. */
export class ConditionChanges implements Check {
  readonly #conditions = new Map<string, Map<string, SeenCondition>>();
  /** By `<uid> <reason>`. */
  readonly #changes = new Map<string, number>();
  readonly #findings: Finding[] = [];
  /** Objects being deleted that had a blocker and have none any longer: name by uid. */
  readonly #unblocked = new Map<string, string>();

  /** @param byHand whether a user acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    store.watchAll((event) => this.#look(event, byHand()));
  }

  #look({ type, object, previous }: StoreEvent, byHand: boolean): void {
    if (type === 'MODIFIED' && previous !== undefined && hasSameConditions(object, previous)) return;
    const { uid } = object.metadata;
    const before = this.#conditions.get(uid);
    const after = type === 'DELETED' ? [] : conditionsIn(object);
    if (before === undefined && after.length === 0) return;
    const now = new Map<string, SeenCondition>();
    for (const { type: name, status, reason = '', message = '', lastTransitionTime = '' } of after) {
      const seen = { status, reason, text: `${status} ${reason} ${message} ${lastTransitionTime}`, since: lastTransitionTime };
      const was = before?.get(name);
      now.set(name, seen);
      // Not for a pod, whose condition may be written over an unseen one: its kubelet changes the status all the time.
      if (object.kind !== 'Pod' && was?.status === status && was.since !== lastTransitionTime)
        this.#findings.push({
          kind: 'condition since',
          message: `condition ${name} of ${object.kind} ${object.metadata.name} is ${status} as before, and its lastTransitionTime is ${lastTransitionTime} instead of ${was.since}`,
        });
      // The list of blockers gets shorter. The Event reports only that there is one, and of what kind.
      if (name === BLOCKED ? was?.status !== status || was.reason !== reason : was?.text !== seen.text) this.#count(`${uid} ${reason}`);
    }
    const wasBlocked = before?.get(BLOCKED)?.status === 'True' && object.metadata.deletionTimestamp !== undefined;
    if (wasBlocked && !byHand && now.get(BLOCKED)?.status !== 'True') this.#unblocked.set(uid, `${object.kind} ${object.metadata.name}`);
    if (type === 'DELETED') this.#conditions.delete(uid);
    else this.#conditions.set(uid, now);
  }

  whenConverged({ cluster }: ConvergedCluster): readonly Finding[] {
    // A process that begins to lead sends Events of recent writes once more, whether or not they were sent before.
    return [...this.#findings.splice(0), ...this.#missingUnblocked(cluster), ...this.#repeatedEvents(cluster, cluster.terms - 1)];
  }

  /** An object that was reported as blocked needs an Event once its deletion continues. */
  #missingUnblocked({ lab, dropped, killed, faults }: SimulatedCluster): readonly Finding[] {
    const waiting = [...this.#unblocked];
    this.#unblocked.clear();
    if (waiting.length === 0 || killed || faults.repliesLost) return [];
    const sent = new Set([...dropped].map((key) => key.split(' ', 2).join(' ')));
    for (const event of lab.store.list('events')) {
      const { involvedObject, reason = '' } = event as unknown as EventFields;
      sent.add(`${involvedObject?.uid ?? ''} ${reason}`);
    }
    return waiting
      .filter(([uid]) => !sent.has(`${uid} DeletionUnblocked`))
      .map(([, object]) => ({
        kind: 'missing Event unblocked',
        message: `the deletion of ${object} is no longer blocked, and no Event reports it`,
      }));
  }

  #count(key: string): void {
    this.#changes.set(key, (this.#changes.get(key) ?? 0) + 1);
  }

  /** @param slack how many more Events than changes are allowed for each condition */
  #repeatedEvents({ lab }: SimulatedCluster, slack: number): readonly Finding[] {
    const sent = new Map<string, { count: number; message: string }>();
    for (const object of lab.store.list('events')) {
      const { involvedObject, reason = '', message = '', count = 1 } = object as unknown as EventFields;
      const uid = involvedObject?.uid ?? '';
      // A condition may come in the same write that removes the finalizer: it has an Event, and was never visible on the object.
      if (!this.#conditions.has(uid)) continue;
      const key = `${uid} ${causeOf(reason, message).reason}`;
      if (this.#changes.has(key)) sent.set(key, { count: (sent.get(key)?.count ?? 0) + count, message });
    }
    return [...sent].flatMap(([key, { count, message }]) => {
      const changes = this.#changes.get(key) ?? 0;
      return count <= changes + slack
        ? []
        : [{ kind: 'repeated Event', message: `${count} Events for ${changes} changes: ${key} ${message}` }];
    });
  }
}

interface ReportedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** A cheap check that is only true when certain: most writes leave the parts with conditions as they were. */
function hasSameConditions(object: KubeObject, previous: KubeObject): boolean {
  const written = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[kilnAnnotation.conditions];
  return object['status'] === previous['status'] && written(object) === written(previous) && object.metadata.uid === previous.metadata.uid;
}

function conditionsIn(object: KubeObject): readonly ReportedCondition[] {
  const { conditions: all = [] } = (object['status'] ?? {}) as { readonly conditions?: readonly (ReportedCondition & { node?: string })[] };
  // Those of a ProviderNetwork are about nodes.
  const conditions = all.filter(({ node }) => node === undefined);
  const written = object.metadata.annotations?.[kilnAnnotation.conditions];
  if (written === undefined) return conditions;
  try {
    return [...conditions, ...(JSON.parse(written) as readonly ReportedCondition[])];
  } catch {
    return conditions;
  }
}
