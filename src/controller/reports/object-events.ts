/**
 * The controller's Events: for written conditions, and for standing facts, which a restart does not repeat.
 */
import { componentOf } from '../../api/kube-ovn-events.ts';
import type { ReportOutput } from '../../compile/output.ts';
import type { PlannedEvent } from '../../diff/condition-diff.ts';
import { FairMemory } from '../../kube/fairness/fair-memory.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { EVENTS } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';
import { splitKey, traitsOf } from '../../world/resources.ts';
import { eventMessage } from '../../text/visible-text.ts';
import type { StandingReport } from './standing-facts.ts';

interface PastEvent extends KubeObject {
  readonly involvedObject?: { readonly uid?: string };
  readonly message?: string;
}

/** The namespace for Events of cluster-scoped objects. */
const DEFAULT_NAMESPACE = 'default';

/** Compared characters of a message: an Event has at most 1,024 bytes of it. */
const KNOWN_BY = 500;

/**
 * For each reason, so many sent Events are remembered, of one namespace and of all. Forgetting one costs a repeated Event, nothing more.
 */
const MOST_SENT = [2_000, 10_000] as const;

/** The namespace that the Events of an object count for; empty for the cluster. */
export type ShareOfEvent = (resource: ResourceName, namespace: string, name: string) => string;

export class ObjectEvents {
  readonly #client: Pick<KubeClient, 'listAll'>;
  readonly #recorder: Pick<EventRecorder, 'record'>;
  /** `<uid> <message>` and `<uid>` of Events that the server still has from earlier processes, by reason and by the Event's namespace. */
  readonly #sent = new Map<string, FairMemory<true> | 'reading'>();
  readonly #wake: () => void;
  readonly #shareOf: ShareOfEvent;
  /** The facts that held when this process began to lead. */
  #standing = new Set<StandingReport>();

  constructor(
    client: Pick<KubeClient, 'listAll'>,
    recorder: Pick<EventRecorder, 'record'>,
    wake: () => void,
    shareOf: ShareOfEvent = (_resource, namespace) => namespace,
  ) {
    this.#wake = wake;
    this.#shareOf = shareOf;
    this.#client = client;
    this.#recorder = recorder;
  }

  record(resource: ResourceName, namespace: string, name: string, uid: string | undefined, event: PlannedEvent): void {
    const { group, version, plural, kind, namespaced } = traitsOf(resource);
    this.#recorder.record({
      target: { resource: { group, version, plural, kind, namespaced }, name, ...(namespace === '' ? {} : { namespace }), uid },
      share: this.#shareOf(resource, namespace, name),
      ...event,
      component: componentOf(event.reason),
    });
  }

  /**
   * This process begins to lead. A fact that holds and has no Event on the server gets one: the earlier leader may have lost the Lease
   * before sending it.
   */
  begin(standing: Iterable<StandingReport>): void {
    this.#sent.clear();
    this.#standing = new Set(standing);
  }

  /** Sends Events for the new standing facts, and clears the set. */
  flush(fresh: Set<ReportOutput>): void {
    this.#flush(this.#standing);
    this.#flush(fresh);
  }

  #flush(fresh: Set<StandingReport>): void {
    for (const report of fresh) {
      const recorded = this.#sent.get(report.reason);
      if (recorded === undefined) this.#readPast(report.reason);
      if (recorded === undefined || recorded === 'reading') continue;
      fresh.delete(report);
      const { namespace, name } = splitKey(report.key);
      const eventNamespace = namespace === '' ? DEFAULT_NAMESPACE : namespace;
      const mark = markOf(report.uid, eventMessage(report.message));
      if (recorded.get(eventNamespace, mark) === true || (report.once === true && recorded.get(eventNamespace, report.uid) === true))
        continue;
      recorded.set(eventNamespace, mark, true);
      this.record(report.resource, namespace, name, report.uid, report);
    }
  }

  /** Without an answer an Event may be repeated, nothing else. */
  #readPast(reason: string): void {
    this.#sent.set(reason, 'reading');
    this.#client.listAll<PastEvent>(EVENTS, { fieldSelector: `reason=${reason}` }).then(
      (events) => this.#pastRead(reason, events),
      () => this.#pastRead(reason, []),
    );
  }

  #pastRead(reason: string, events: readonly PastEvent[]): void {
    const recorded = new FairMemory<true>(...MOST_SENT);
    // An Event counts only for objects of its own namespace: a forged one suppresses no Event of another tenant.
    for (const { metadata, involvedObject: { uid = '' } = {}, message = '' } of events)
      for (const mark of [uid, markOf(uid, message)]) recorded.set(metadata.namespace ?? DEFAULT_NAMESPACE, mark, true);
    this.#sent.set(reason, recorded);
    this.#wake();
  }
}

function markOf(uid: string, message: string): string {
  return `${uid} ${message.slice(0, KNOWN_BY)}`;
}
