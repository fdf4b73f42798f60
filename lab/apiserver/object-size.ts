/** How large an object may become: as much as a real server's etcd, and the way there, would take. */
import type { Guard } from './operation-options.ts';
import { ApiError } from './status.ts';

const MOST_STORED_BYTES = 1.5 * 1024 * 1024;
const MOST_SENT_BYTES = 2 * 1024 * 1024;

/** Refuses what a client would store and no etcd would; what the system writes itself is not measured. */
export const refuseHugeObjects: Guard = ({ object, options = {} }) => {
  if (options.fromClient !== true || options.dryRun === true) return;
  const bytes = Buffer.byteLength(JSON.stringify(object));
  if (bytes <= MOST_STORED_BYTES) return;
  throw new ApiError(
    500,
    '',
    bytes <= MOST_SENT_BYTES
      ? 'etcdserver: request is too large'
      : `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${bytes} vs. ${MOST_SENT_BYTES})`,
  );
};
