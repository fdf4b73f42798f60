import { vipsByOption } from './service-vips.ts';
import type { World } from './world.ts';

/** The Service that an entry of a load balancer is of. */
export interface VipHolder {
  /** `namespace/name`. */
  readonly service: string;
  /** By an option that is not implemented yet: the entry stays as it is. */
  readonly isByOption: boolean;
}

/** Of several the one with an option. Cost: constant, but for Services of one address. */
export function holderOfVip({ services }: World, vip: string): VipHolder | undefined {
  let found: VipHolder | undefined;
  for (const key of services.peekBucket('vip', vip)) {
    const service = services.peek(key);
    if (service === undefined) continue;
    const isByOption = vipsByOption(service).includes(vip);
    if (found === undefined || isByOption) found = { service: key, isByOption };
  }
  return found;
}
