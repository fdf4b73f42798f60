/** The active faults, and the requests that they strike. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../status.ts';
import type { FaultRule, Match, RequestFault, Verb, WatchFault } from './fault.ts';

/** The properties of a request that faults match. */
export interface Call {
  readonly verb: Verb;
  /** The resource with its group and subresource: `subnets.kubeovn.io/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly userAgent: string;
}

export interface SetFault extends FaultRule {
  readonly id: string;
  /** The number of strikes. */
  readonly struck: number;
}

interface Entry {
  readonly id: string;
  readonly rule: FaultRule;
  met: number;
  struck: number;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

export class Faults {
  readonly #entries = new Map<string, Entry>();
  #next = 1;

  add(rule: FaultRule): SetFault {
    const id = String(this.#next++);
    const entry: Entry = { id, rule, met: 0, struck: 0 };
    this.#entries.set(id, entry);
    return shown(entry);
  }

  list(): SetFault[] {
    return Array.from(this.#entries.values(), shown);
  }

  /** @param id undefined: all faults. @returns whether there was one */
  remove(id?: string): boolean {
    if (id !== undefined) return this.#entries.delete(id);
    const any = this.#entries.size > 0;
    this.#entries.clear();
    return any;
  }

  /**
   * Applies faults to a request before it is executed: a delay, or an error.
   *
   * @returns when its connection is to be broken, if at all
   * @throws ApiError as the answer to the request
   */
  async beforeRequest(call: Call): Promise<'before' | 'after' | undefined> {
    let cut: 'before' | 'after' | undefined;
    for (const entry of [...this.#entries.values()]) {
      const { fault } = entry.rule;
      if ((fault.kind !== 'delay' && fault.kind !== 'error' && fault.kind !== 'cut') || !this.#strikes(entry, call)) continue;
      if (fault.kind === 'delay') await sleep(fault.milliseconds);
      else if (fault.kind === 'error') throw refusal(fault);
      else cut ??= fault.when;
    }
    return cut;
  }

  /** The fault for a watch's next event or bookmark. A bookmark is never dropped, repeated or garbled. */
  beforeEvent(call: Call, isBookmark: boolean): WatchFault | undefined {
    for (const entry of this.#entries.values()) {
      const { kind } = entry.rule.fault;
      if (kind === 'delay' || kind === 'error' || kind === 'cut' || (isBookmark && kind.endsWith('-event'))) continue;
      if (this.#strikes(entry, call)) return kind;
    }
    return undefined;
  }

  #strikes(entry: Entry, call: Call): boolean {
    const { match = {}, every = 1, times } = entry.rule;
    if (!matches(match, call) || ++entry.met % every !== 0) return false;
    entry.struck++;
    if (entry.struck === times) this.#entries.delete(entry.id);
    return true;
  }
}

function shown({ id, rule, struck }: Entry): SetFault {
  return { id, ...rule, struck };
}

function matches({ verbs, resources, namespace, name, userAgent }: Match, call: Call): boolean {
  return (
    (verbs === undefined || verbs.includes(call.verb)) &&
    (resources === undefined || resources.includes(call.resource)) &&
    (namespace === undefined || namespace === call.namespace) &&
    (name === undefined || name === call.name) &&
    (userAgent === undefined || call.userAgent.startsWith(userAgent))
  );
}

function refusal({ code, reason, message, retryAfterSeconds }: Extract<RequestFault, { kind: 'error' }>): ApiError {
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  return new ApiError(code, reason ?? REASONS[code] ?? '', message ?? 'a fault of the laboratory', details, retryAfterSeconds);
}
