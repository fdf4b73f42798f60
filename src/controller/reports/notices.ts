/**
 * The controller's Events: those of conditions that were written, and those of standing facts, which a restart does not repeat.
 */
import type { NoticeOutput } from '../../compile/output.ts';
import type { PlannedEvent } from '../../diff/object-diff.ts';
import { FairMemory } from '../../kube/fair-memory.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { EVENTS } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';
import { splitKey, traitsOf } from '../../world/resources.ts';
import { eventMessage } from '../../text/visible-text.ts';
import type { StandingNotice } from './standing-facts.ts';

interface PastEvent extends KubeObject {
  readonly involvedObject?: { readonly uid?: string };
  readonly message?: string;
}

/** Where Events of the cluster's objects are kept. */
const DEFAULT_NAMESPACE = 'default';

/** Characters by which a message is known: an Event holds no more than 1,024 bytes of it. */
const KNOWN_BY = 500;

/**
 * For each reason, so many Events are remembered as sent, of one namespace and of all. Forgetting one costs a repeated Event, nothing more.
 */
const MOST_SAID = [2_000, 10_000] as const;

/** Whose share of the Events one of an object counts against: a namespace, or empty for the cluster. */
export type ShareOfEvent = (resource: ResourceName, namespace: string, name: string) => string;

export class Notices {
  readonly #client: Pick<KubeClient, 'listAll'>;
  readonly #recorder: Pick<EventRecorder, 'record'>;
  /** `<uid> <message>` and `<uid>` of what earlier processes said and the server still keeps, by reason and by the namespace of the Event. */
  readonly #said = new Map<string, FairMemory<true> | 'asking'>();
  readonly #wake: () => void;
  readonly #shareOf: ShareOfEvent;
  /** What was so when this process began to lead. */
  #standing = new Set<StandingNotice>();

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
    });
  }

  /**
   * This process begins to lead. A fact that holds, and of which the server has no Event, gets one: the leader before may have lost the
   * Lease before it could send it.
   */
  begin(standing: Iterable<StandingNotice>): void {
    this.#said.clear();
    this.#standing = new Set(standing);
  }

  /** Emits and forgets the standing facts that are new. */
  flush(fresh: Set<NoticeOutput>): void {
    this.#flush(this.#standing);
    this.#flush(fresh);
  }

  #flush(fresh: Set<StandingNotice>): void {
    for (const notice of fresh) {
      const said = this.#said.get(notice.reason);
      if (said === undefined) this.#ask(notice.reason);
      if (said === undefined || said === 'asking') continue;
      fresh.delete(notice);
      const { namespace, name } = splitKey(notice.key);
      const keptIn = namespace === '' ? DEFAULT_NAMESPACE : namespace;
      const mark = markOf(notice.uid, eventMessage(notice.message));
      if (said.get(keptIn, mark) === true || (notice.once === true && said.get(keptIn, notice.uid) === true)) continue;
      said.set(keptIn, mark, true);
      this.record(notice.resource, namespace, name, notice.uid, notice);
    }
  }

  /** A server that cannot answer costs a repeated Event, nothing else. */
  #ask(reason: string): void {
    this.#said.set(reason, 'asking');
    this.#client.listAll<PastEvent>(EVENTS, { fieldSelector: `reason=${reason}` }).then(
      (events) => this.#answered(reason, events),
      () => this.#answered(reason, []),
    );
  }

  #answered(reason: string, events: readonly PastEvent[]): void {
    const said = new FairMemory<true>(...MOST_SAID);
    // An Event speaks of objects of its own namespace alone: one that a tenant made keeps no Event from another tenant.
    for (const { metadata, involvedObject: { uid = '' } = {}, message = '' } of events)
      for (const mark of [uid, markOf(uid, message)]) said.set(metadata.namespace ?? DEFAULT_NAMESPACE, mark, true);
    this.#said.set(reason, said);
    this.#wake();
  }
}

function markOf(uid: string, message: string): string {
  return `${uid} ${message.slice(0, KNOWN_BY)}`;
}
