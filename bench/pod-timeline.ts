/** The time of each step of binding a pod, as the controller's process sees it. */
import type { Controller } from '../src/controller/controller.ts';
import type { KubeClient } from '../src/kube/client/client.ts';
import type { KubeObject } from '../src/kube/resource.ts';
import { rowId } from '../src/nb/row-id.ts';

/** In their order. */
export const STEPS = ['seen', 'IP sent', 'IP answered', 'port observed', 'patch sent', 'patch answered'] as const;
export type Step = (typeof STEPS)[number];
/** Time by step, in milliseconds since the epoch with fractions. */
export type Timeline = Partial<Record<Step, number>>;

/** Follows each pod with this name prefix in one namespace. @returns takes the timelines so far, by pod name */
export function followPods(controller: Controller, client: KubeClient, namespace: string, prefix: string): () => Record<string, Timeline> {
  const timelines = new Map<string, Timeline>();
  const note = (pod: string, step: Step): void => {
    const timeline = timelines.get(pod);
    if (timeline !== undefined) timeline[step] ??= performance.timeOrigin + performance.now();
  };
  controller.world.pods.onChange((_, after) => {
    const name = after?.metadata.name;
    if (name === undefined || !name.startsWith(prefix) || timelines.has(name)) return;
    timelines.set(name, {});
    note(name, 'seen');
  });
  const ofPort = (port: string): string => port.slice(0, -namespace.length - 1);
  controller.world.rows.onChange({
    row: (id) => {
      const [port] = id.startsWith(PORT) ? [id.slice(PORT.length)] : [];
      if (port?.endsWith(`.${namespace}`) === true) note(ofPort(port), 'port observed');
    },
    member: () => undefined,
  });
  const create = client.create.bind(client);
  client.create = (async (resource, object: KubeObject, options) => {
    const pod = resource.plural === 'ips' ? ofPort(object.metadata.name) : undefined;
    if (pod !== undefined) note(pod, 'IP sent');
    const made = await create(resource, object, options);
    if (pod !== undefined) note(pod, 'IP answered');
    return made;
  }) as KubeClient['create'];
  const patch = client.mergePatch.bind(client);
  client.mergePatch = (async (resource, target, body, options) => {
    const pod = resource.plural === 'pods' ? target.name : undefined;
    if (pod !== undefined) note(pod, 'patch sent');
    const made = await patch(resource, target, body, options);
    if (pod !== undefined) note(pod, 'patch answered');
    return made;
  }) as KubeClient['mergePatch'];
  return () => {
    const taken = Object.fromEntries(timelines);
    timelines.clear();
    return taken;
  };
}

const PORT = rowId('Logical_Switch_Port', '');
