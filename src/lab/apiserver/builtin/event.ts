/** One storage of Events, seen as `v1` and as `events.k8s.io/v1`: the same facts under other names. */
import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { View } from '../resource.ts';

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
