/** The answer to a request, and its text. */
import type { JsonObject } from './json.ts';
import { encodeObject } from './object.ts';

export interface Reply {
  readonly status: number;
  /** From the store, or made for this answer: read-only. */
  readonly body: JsonObject | ObjectList;
  readonly warnings?: readonly string[];
}

/** A list in which each object is encoded once for all answers. */
export class ObjectList {
  readonly head: JsonObject;
  readonly items: readonly JsonObject[];

  constructor(head: JsonObject, items: readonly JsonObject[]) {
    this.head = head;
    this.items = items;
  }
}

/** @returns JSON text */
export function encodeReply(body: Reply['body']): string {
  if (!(body instanceof ObjectList)) return encodeObject(body);
  return `${JSON.stringify(body.head).slice(0, -1)},"items":[${body.items.map(encodeObject).join(',')}]}`;
}
