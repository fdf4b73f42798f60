import type { KubeObject } from '../resource.ts';

/** coordination.k8s.io/v1 Lease. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec | null;
}

export interface LeaseSpec {
  /** Empty or missing: free. */
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number | null;
  /** RFC 3339 with microseconds. The holder's clock: never compared with ours. */
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  readonly leaseTransitions?: number | null;
}

export function microTime(wallTime: number): string {
  return new Date(wallTime).toISOString().replace('Z', '000Z');
}

/**
 * Decides whether a Lease is held, as every candidate must: by the time at which its record was last seen to change, on the own monotonic
 * clock. A Lease seen for the first time counts as changed at that time.
 */
export class LeaseObservation {
  #record: string | undefined;
  #lease: Lease | undefined;
  #changedAt = 0;

  /** @param lease undefined: there is none. @param now monotonic milliseconds */
  observe(lease: Lease | undefined, now: number): void {
    const { holderIdentity, renewTime, acquireTime, leaseTransitions } = lease?.spec ?? {};
    const record = JSON.stringify([lease?.metadata.uid, holderIdentity, renewTime, acquireTime, leaseTransitions]);
    this.#lease = lease;
    if (record === this.#record) return;
    this.#record = record;
    this.#changedAt = now;
  }

  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Empty: no holder. */
  get holder(): string {
    return this.#lease?.spec?.holderIdentity ?? '';
  }

  /** When the holder's right ends unless it renews; in the past if there is no holder. */
  get expiresAt(): number {
    if (this.holder === '') return -Infinity;
    return this.#changedAt + (this.#lease?.spec?.leaseDurationSeconds ?? 15) * 1000;
  }
}
