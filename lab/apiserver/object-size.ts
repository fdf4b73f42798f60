/** The maximum size of an object: the limits of a real server's etcd and of the message to it. */
import type { Guard } from './operation-options.ts';
import { ApiError } from './status.ts';

const MOST_STORED_BYTES = 1.5 * 1024 * 1024;
const MOST_SENT_BYTES = 2 * 1024 * 1024;

/** Rejects a client's object that etcd would not store; the system's own writes are not checked. */
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
