import type { Service } from '../../api/kubernetes/core.ts';
import type { KindObserved } from '../../controller/reading/kind-observed.ts';
import { vipsOfService } from '../../world/service-vips.ts';
import { fileApiServer, fileServiceVips, isApiServer, serviceAddresses } from './observed/api-server-service.ts';

interface Kept {
  /** Of the API server's Service. */
  readonly addresses?: readonly string[];
  readonly vips: readonly string[];
}

export const observed: KindObserved = {
  keep: (object, key): Kept => ({
    ...(isApiServer(key) && { addresses: serviceAddresses(object) }),
    vips: vipsOfService(object as unknown as Service),
  }),
  file: (world, key, kept) => {
    const { addresses, vips = [] } = (kept ?? {}) as Partial<Kept>;
    if (isApiServer(key)) fileApiServer(world, addresses);
    fileServiceVips(world, key, vips);
  },
};
