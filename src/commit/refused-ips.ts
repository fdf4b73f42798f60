/**
 * IP objects that the API server refused to make, as a table of the World: the rules let their addresses go and say so, and ask again
 * when their time has come. What the server could not answer is no refusal: while it is away nothing is given back.
 */
import { kilnAnnotation } from '../api/well-known.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { KubeError, KubeErrorCode } from '../kube/errors.ts';
import { hash32 } from '../nb/row-id.ts';
import type { RefusedIp } from '../world/reservations.ts';
import type { Table } from '../world/table.ts';

const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;
/** Who has not tried again so long after its time does not want it any more. */
const FORGOTTEN_MS = 300_000;
const MOST_TEXT = 500;
/** Their pods may be gone since. */
const MOST_DOUBTED = 10_000;

const REFUSALS: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_BAD_REQUEST',
  'KUBE_FORBIDDEN',
  'KUBE_NOT_SERVED',
  'KUBE_INVALID',
  'KUBE_TOO_LARGE',
  'KUBE_WEBHOOK_FAILED',
  // Of one write after many attempts; the whole server is not what fails then.
  'KUBE_INTERNAL',
]);

export interface RefusedIpsOptions {
  readonly table: Table<RefusedIp>;
  /** Milliseconds since the epoch. */
  readonly wallTime: () => number;
  readonly later: (ms: number, run: () => void) => void;
}

export class RefusedIps {
  readonly #options: RefusedIpsOptions;
  /** Whether these were made is not known: what the next round of attempts meets tells. By name and uid. */
  readonly #doubted = new Set<string>();
  #sweeping = false;

  constructor(options: RefusedIpsOptions) {
    this.#options = options;
  }

  /** False while one rests: it is to be tried again. */
  get quiet(): boolean {
    const { table, wallTime } = this.#options;
    if (table.size === 0) return true;
    const now = wallTime();
    for (const [, { until }] of table.entries()) if (until > now) return false;
    return true;
  }

  /** The server answered a creation. */
  answered(write: ObjectWrite, error: KubeError | undefined): void {
    if (write.verb !== 'create' || write.resource !== 'ips') return;
    const { table, wallTime } = this.#options;
    const uid = uidOf(write.object);
    const doubt = `${write.name} ${uid}`;
    const doubted = this.#doubted.delete(doubt);
    if (error === undefined) return table.delete(write.name);
    if (!REFUSALS.has(error.code)) return;
    if (error.outcomeUnknown && !doubted) {
      if (this.#doubted.size >= MOST_DOUBTED) this.#doubted.clear();
      this.#doubted.add(doubt);
      return;
    }
    const before = table.peek(write.name);
    const times = before?.uid === uid ? before.times + 1 : 1;
    table.set(write.name, { uid, message: error.detail.slice(0, MOST_TEXT), times, until: wallTime() + pauseOf(write.name, times) });
    this.#sweepLater();
  }

  #sweepLater(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    this.#options.later(FORGOTTEN_MS, () => {
      this.#sweeping = false;
      const { table, wallTime } = this.#options;
      const old = [...table.entries()].filter(([, { until }]) => until + FORGOTTEN_MS <= wallTime());
      for (const [name] of old) table.delete(name);
      if (table.size > 0) this.#sweepLater();
    });
  }
}

interface Metadata {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly uid: string }[];
}

/** Uid of the pod or node that an IP object is made for. */
export function uidOf({ metadata }: { readonly metadata?: unknown }): string {
  const { annotations = {}, ownerReferences = [] } = metadata as Metadata;
  return annotations[kilnAnnotation.podUid] ?? ownerReferences[0]?.uid ?? '';
}

/** Doubles; those that were refused together do not come back together. */
function pauseOf(name: string, times: number): number {
  const pause = Math.min(FIRST_MS * 2 ** (times - 1), LONGEST_MS);
  return pause * (1 + (hash32(name, times) % 256) / 1_024);
}
