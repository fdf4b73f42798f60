import { validateEventObject } from '../client/answer-validation.ts';
import { errorFromStatus, KubeError, type KubeSubject, type StatusObject } from '../errors.ts';
import { parseJson, stringifyJson } from '../json.ts';
import type { KubeObject, Resource } from '../resource.ts';
import type { WatchEventType } from './cache-contents.ts';

export type WatchEvent<T> =
  | { readonly type: WatchEventType; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly version: string }
  | { readonly type: 'ERROR'; readonly error: KubeError };

/** One line of a watch. @throws KubeError KUBE_PROTOCOL if it is not an event with a named, versioned object of the resource */
export function decodeWatchEvent<T extends KubeObject>(line: string, resource: Resource, subject: KubeSubject): WatchEvent<T> {
  return readWatchEvent(parsed(line, subject), resource, subject);
}

/** The same for a parsed line. */
export function readWatchEvent<T extends KubeObject>(line: unknown, resource: Resource, subject: KubeSubject): WatchEvent<T> {
  const event: RawEvent = typeof line === 'object' && line !== null ? line : {};
  const { type, object } = event;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      validateEventObject(resource, object, subject);
      return { type, object: object as T };
    }
    case 'BOOKMARK': {
      const version = object?.metadata?.resourceVersion;
      if (typeof version !== 'string' || version === '') break;
      return { type, version };
    }
    case 'ERROR': {
      const status = object;
      if (typeof status?.code !== 'number') break;
      return { type, error: errorFromStatus(subject, status.code, status) };
    }
  }
  throw new KubeError('KUBE_PROTOCOL', subject, `not a watch event: ${stringifyJson(line)?.slice(0, 200)}`);
}

interface RawEvent {
  readonly type?: unknown;
  readonly object?: StatusObject & { readonly metadata?: { readonly resourceVersion?: unknown } };
}

function parsed(line: string, subject: KubeSubject): unknown {
  try {
    return parseJson(line);
  } catch (error) {
    throw new KubeError('KUBE_PROTOCOL', subject, `not JSON: ${line.slice(0, 200)}`, { cause: error });
  }
}
