/**
 * The controller's Events: those of conditions that were written, and those of standing facts, which a restart does not repeat.
 */
import type { NoticeOutput } from '../compile/output.ts';
import type { EventWish } from '../diff/object-diff.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventRecorder } from '../kube/event-recorder.ts';
import type { KubeObject } from '../kube/resource.ts';
import { EVENTS } from '../kube/resource.ts';
import type { ResourceName } from '../world/resources.ts';
import { splitKey, traitsOf } from '../world/resources.ts';
import type { StandingNotice } from './standing-facts.ts';

interface PastEvent extends KubeObject {
  readonly involvedObject?: { readonly uid?: string };
  readonly message?: string;
}

/** Characters by which a message is known: an Event holds no more than 1,024 bytes of it. */
const KNOWN_BY = 500;

/** For each reason, so many Events are remembered as sent. Forgetting one costs a repeated Event, nothing more. */
const MOST_SAID = 10_000;

export class Notices {
  readonly #client: Pick<KubeClient, 'listAll'>;
  readonly #recorder: Pick<EventRecorder, 'record'>;
  /** `<uid> <message>` and `<uid>` of what earlier processes said and the server still keeps, by reason. */
  readonly #said = new Map<string, Set<string> | 'asking'>();
  readonly #wake: () => void;
  /** What was so when this process began to lead. */
  #standing = new Set<StandingNotice>();

  constructor(client: Pick<KubeClient, 'listAll'>, recorder: Pick<EventRecorder, 'record'>, wake: () => void) {
    this.#wake = wake;
    this.#client = client;
    this.#recorder = recorder;
  }

  record(resource: ResourceName, namespace: string, name: string, uid: string | undefined, event: EventWish): void {
    const { group, version, plural, kind, namespaced } = traitsOf(resource);
    this.#recorder.record({
      target: { resource: { group, version, plural, kind, namespaced }, name, ...(namespace === '' ? {} : { namespace }), uid },
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
      const mark = markOf(notice.uid, notice.message);
      if (said.has(mark) || (notice.once === true && said.has(notice.uid))) continue;
      said.add(mark);
      if (said.size > MOST_SAID) said.delete(said.values().next().value as string);
      const { namespace, name } = splitKey(notice.key);
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
    this.#said.set(reason, new Set(events.flatMap(({ involvedObject: { uid = '' } = {}, message = '' }) => [uid, markOf(uid, message)])));
    this.#wake();
  }
}

function markOf(uid: string, message: string): string {
  return `${uid} ${message.slice(0, KNOWN_BY)}`;
}
