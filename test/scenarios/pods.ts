/** Manifests of pods and tenants as a user writes them, and waiting for their state. */
import { ProgramError } from '../../lab/programs/run-program.ts';
import type { PrintedObject, ScenarioCluster } from '../../src/testing/scenario-cluster.ts';

export interface PodOptions {
  readonly node?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly graceSeconds?: number;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
}

/** Each manifest begins with `---`, so that manifests are joined by concatenation. */
export function podYaml(
  namespace: string,
  name: string,
  { node, annotations = {}, graceSeconds = 0, restartPolicy = 'Always' }: PodOptions = {},
): string {
  return `---
apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: ${namespace}
  annotations: ${JSON.stringify(annotations)}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: ${graceSeconds}
  restartPolicy: ${restartPolicy}
  nodeSelector: ${JSON.stringify(node === undefined ? {} : { 'kubernetes.io/hostname': node })}
  containers:
  - {name: main, image: busybox}
`;
}

export function namespaceYaml(name: string, labels: Readonly<Record<string, string>> = {}): string {
  return `---
apiVersion: v1
kind: Namespace
metadata:
  name: ${name}
  labels: ${JSON.stringify(labels)}
`;
}

export function vpcYaml(name: string, spec: object = {}): string {
  return custom('Vpc', name, spec);
}

export function subnetYaml(name: string, spec: object): string {
  return custom('Subnet', name, spec);
}

/** A Vpc `x`, a Subnet `x-net` in it, and a namespace `x` whose pods are in that Subnet. */
export function tenantYaml(name: string, cidrBlock: string, spec: object = {}): string {
  return vpcYaml(name) + subnetYaml(`${name}-net`, { vpc: name, cidrBlock, namespaces: [name], ...spec }) + namespaceYaml(name);
}

/** The phase of a pod as a kubelet would write it. */
export async function setPodStatus(cluster: ScenarioCluster, namespace: string, name: string, status: object): Promise<void> {
  await cluster.eventually(`the status of ${name} is written`, async () => {
    const pod = await cluster.get('pod', name, namespace);
    const written = JSON.stringify({ ...pod, status: { ...pod.status, ...status } });
    await cluster.kubectl(['replace', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/status`, '-f', '-'], written);
    return true;
  });
}

export function custom(kind: string, name: string, spec: object): string {
  return `---
apiVersion: kubeovn.io/v1
kind: ${kind}
metadata:
  name: ${name}
spec: ${JSON.stringify(spec)}
`;
}

/** Waits until the pod runs with the address in its annotations. */
export async function running(cluster: ScenarioCluster, namespace: string, name: string): Promise<PrintedObject> {
  return await cluster.eventually(`pod ${namespace}/${name} runs`, async () => {
    const pod = await cluster.get('pod', name, namespace);
    const ip = pod.metadata.annotations?.['ovn.kubernetes.io/ip_address'];
    return pod.status?.['phase'] === 'Running' && ip !== undefined && ip.split(',')[0] === pod.status['podIP'] ? pod : undefined;
  });
}

/** The addresses of a running pod, `v4`, `v6` or `v4,v6`. */
export async function addressOf(cluster: ScenarioCluster, namespace: string, name: string): Promise<string> {
  return (await running(cluster, namespace, name)).metadata.annotations?.['ovn.kubernetes.io/ip_address'] ?? '';
}

/** Deletes a pod and waits until it and its IP object are gone. */
export async function deletePod(cluster: ScenarioCluster, namespace: string, name: string): Promise<void> {
  await cluster.delete('pod', name, namespace);
  await untilDeleted(cluster, 'pod', name, namespace);
  await untilDeleted(cluster, 'ip', `${name}.${namespace}`);
}

/** Removes an object by force, with `kubectl delete` and a patch of its finalizers: no controller releases it. */
export async function removeByForce(cluster: ScenarioCluster, kind: string, name: string): Promise<void> {
  await cluster.delete(kind, name);
  await cluster.patch(kind, name, { metadata: { finalizers: [] } }).catch((error: unknown) => {
    // The controller may have removed its finalizer in the meantime, or may not have added it yet.
    if (!(error instanceof ProgramError && error.stderr.includes('NotFound'))) throw error;
  });
  await untilDeleted(cluster, kind, name);
}

export async function untilDeleted(cluster: ScenarioCluster, kind: string, name: string, namespace?: string): Promise<void> {
  await cluster.eventually(`${kind} ${name} is gone`, async () => (await cluster.find(kind, name, namespace)) === undefined);
}

/**
 * Waits until a condition of an object has this status and the controller has converged, and returns it. Before that its reason may be a
 * passing one.
 */
export async function condition(
  cluster: ScenarioCluster,
  kind: string,
  name: string,
  type: string,
  status: string,
  namespace?: string,
): Promise<{ readonly reason: string; readonly message: string }> {
  const asSaid = (): Promise<{ readonly reason: string; readonly message: string }> =>
    cluster.eventually(`${kind} ${name} has ${type}=${status}`, async () => {
      const object = await cluster.get(kind, name, namespace);
      const found = object.status?.conditions?.find((one) => one.type === type);
      if (found?.status !== status) throw new Error(`its conditions are ${JSON.stringify(object.status?.conditions ?? [])}`);
      return { reason: found.reason ?? '', message: found.message ?? '' };
    });
  await asSaid();
  await cluster.stable();
  return await asSaid();
}
