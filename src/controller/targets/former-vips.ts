/** Which Service an entry of a load balancer was of: the entry itself does not say it, and the Service may be gone. */
import { vipsByOption, vipsOfService } from '../../world/service-vips.ts';
import type { World } from '../../world/world.ts';

const MOST = 100_000;

export class FormerVips {
  /** `namespace/name` by vip, the latest last. */
  readonly #services = new Map<string, string>();

  /** @param left called when a Service left vips that no rule emits: the rules do not tell of these */
  constructor({ services }: World, left: () => void) {
    services.onChange((key, after, before) => {
      if (before === undefined) return;
      const now = new Set(after === undefined ? [] : vipsOfService(after));
      for (const vip of vipsOfService(before)) if (!now.has(vip)) this.#keep(vip, key);
      const kept = new Set(after === undefined ? [] : vipsByOption(after));
      if (vipsByOption(before).some((vip) => !kept.has(vip))) left();
    });
  }

  serviceOf(vip: string): string | undefined {
    return this.#services.get(vip);
  }

  #keep(vip: string, service: string): void {
    this.#services.delete(vip);
    this.#services.set(vip, service);
    if (this.#services.size > MOST) this.#services.delete(this.#services.keys().next().value as string);
  }
}
