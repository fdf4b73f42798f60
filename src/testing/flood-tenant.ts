/** A cluster with the tenants `flood`, which edits its pods without end, and `quiet`, which the controller must still serve. */
import type { KubeClient } from '../kube/client/client.ts';
import type { KubeObject } from '../kube/resource.ts';
import { PODS } from '../kube/resource.ts';
import { until } from './until.ts';
import { traitsOf } from '../world/resources.ts';

interface Annotated extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
}

/** Creates a node, both namespaces and the pods `f-0`, `f-1`, … of `flood`. */
export async function createFloodTenants(
  client: KubeClient,
  pods: number,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  await client.create(traitsOf('nodes'), {
    metadata: { name: 'n1' },
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] },
  } as unknown as KubeObject);
  for (const name of ['flood', 'quiet']) await client.create(traitsOf('namespaces'), { metadata: { name } });
  for (let n = 0; n < pods; n++) await client.create(PODS, podOnNode('flood', `f-${n}`, annotations));
}

export function podOnNode(namespace: string, name: string, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, annotations }, spec } as unknown as KubeObject;
}

/** Waits until Kiln has written the addresses of pod `good` of `quiet`. */
export async function untilGoodPodIsBound(client: KubeClient): Promise<void> {
  await until('the good pod is bound', async () => {
    const { metadata } = await client.get<Annotated>(PODS, { namespace: 'quiet', name: 'good' });
    return metadata.annotations?.['ovn.kubernetes.io/allocated'] === 'true';
  });
}
