/** Why the Northbound database cannot be followed, for as long as it cannot: what the leader tells to who looks from elsewhere. */
import type { OvsdbSession } from '../ovsdb/index.ts';

export class NorthboundLoss {
  #reason: string | undefined;

  constructor(session: Pick<OvsdbSession, 'onError' | 'onState'>) {
    session.onError(({ code, message }) => {
      // That a member does not lead says nothing of what is wrong with the others.
      if (code !== 'OVSDB_NOT_LEADER') this.#reason = `${code}: ${message}`;
      else this.#reason ??= `${code}: ${message}`;
    });
    session.onState((state) => {
      if (state === 'synced') this.#reason = undefined;
    });
  }

  /** Undefined while it is followed. */
  get reason(): string | undefined {
    return this.#reason;
  }
}
