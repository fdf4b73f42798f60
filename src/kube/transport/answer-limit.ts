import { KubeError, type KubeSubject } from '../errors.ts';

/** For one answer that is in memory as a whole: a page of a thousand objects of 64 KiB each. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** For a whole list, in pages or streamed: a hundred thousand pods take 1.5 GB at most, of which a cache keeps a fraction. */
export const MAX_LIST_BYTES = 2 * 1024 * 1024 * 1024;
/** A cluster may have 150,000 pods. */
export const MAX_LIST_OBJECTS = 500_000;

/** The limit of one list: a server whose list has no end would fill the memory. */
export class AnswerLimit {
  readonly #maxBytes: number;
  readonly #maxObjects: number;
  #bytes = 0;
  #objects = 0;

  constructor(maxBytes = MAX_LIST_BYTES, maxObjects = MAX_LIST_OBJECTS) {
    this.#maxBytes = maxBytes;
    this.#maxObjects = maxObjects;
  }

  /** @throws KubeError KUBE_ANSWER_TOO_LARGE */
  bytes(more: number, subject: KubeSubject): void {
    this.#bytes += more;
    if (this.#bytes > this.#maxBytes)
      throw new KubeError('KUBE_ANSWER_TOO_LARGE', subject, `the list has more than ${this.#maxBytes} bytes`);
  }

  /** @throws KubeError KUBE_ANSWER_TOO_LARGE */
  objects(more: number, subject: KubeSubject): void {
    this.#objects += more;
    if (this.#objects > this.#maxObjects)
      throw new KubeError('KUBE_ANSWER_TOO_LARGE', subject, `the list has more than ${this.#maxObjects} objects`);
  }
}
