/** One storage of Events, served as `v1` and as `events.k8s.io/v1`: the same fields under other names. */
import type { JsonObject } from '../json.ts';
import { at, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { View } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue } from '../status.ts';

const RENAMED: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

function rename(event: KubeObject, apiVersion: string, from: 0 | 1): KubeObject {
  const renamed: JsonObject = { ...event, apiVersion };
  for (const names of RENAMED) {
    const value = renamed[names[from]];
    delete renamed[names[from]];
    if (value !== undefined) renamed[names[from === 0 ? 1 : 0]] = value;
  }
  return renamed as KubeObject;
}

const shown = new WeakMap<KubeObject, KubeObject>();

export const eventsView: View = {
  toStorage: (event) => rename(event, 'v1', 1),
  fromStorage: (event) => {
    let view = shown.get(event);
    if (view === undefined) shown.set(event, (view = rename(event, 'events.k8s.io/v1', 0)));
    return view;
  },
};

/** An Event is in the namespace of its object; Events of cluster-scoped objects are in `default`. */
export function eventErrors(event: KubeObject): readonly FieldError[] {
  const namespace = text(at(event, 'involvedObject', 'namespace'));
  return namespace === event.metadata.namespace || (namespace === '' && event.metadata.namespace === 'default')
    ? []
    : [invalidValue('involvedObject.namespace', namespace, 'does not match event.namespace')];
}
