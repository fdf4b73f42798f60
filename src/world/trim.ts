/**
 * What the caches keep of objects: no managed fields, no last-applied copy. What a kind keeps is in its part `table`.
 */
import type { MachineNetwork } from '../api/kubernetes/virtual-machine.ts';
import type { ObjectMeta } from '../api/kubernetes/meta.ts';
import { kilnAnnotation } from '../api/well-known.ts';

/** An object as the API server sends it. */
export interface Untrimmed {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Omit<ObjectMeta, 'managedFields'> & { readonly managedFields?: unknown; readonly selfLink?: string };
  readonly spec?: unknown;
  readonly status?: unknown;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export function trimMeta(metadata: Untrimmed['metadata'], keep: (annotation: string) => boolean = () => true): ObjectMeta {
  const { managedFields, selfLink, annotations, ...rest } = metadata;
  if (managedFields === undefined && selfLink === undefined && !drops(annotations, keep)) return metadata as ObjectMeta;
  if (annotations === undefined) return rest;
  const kept = Object.entries(annotations).filter(([key]) => key !== LAST_APPLIED && keep(key));
  return { ...rest, annotations: Object.fromEntries(kept) };
}

function drops(annotations: ObjectMeta['annotations'], keep: (annotation: string) => boolean): boolean {
  if (annotations !== undefined) for (const key of Object.keys(annotations)) if (key === LAST_APPLIED || !keep(key)) return true;
  return false;
}

/** Groups of annotations about networks. */
export const NETWORK_KEYS = /\.kubernetes\.io\/|^kiln\.io\/|^k8s\.v1\.cni\.cncf\.io\/|^v1\.multus-cni\.io\/|^kubevirt\.io\/|^kubeovn\.io\//;

/** Groups of Kube-OVN and Kiln: a key of them that no program reads is reported. */
export const OWN_KEYS = /(^|\.)ovn(\.[^.]+)?\.kubernetes\.io\/|^kiln\.io\/|^kubeovn\.io\//;

/** For an object that Kiln only reports on: its identity, and the reported conditions. */
export function trimReported(object: Untrimmed): Pick<Untrimmed, 'metadata' | 'status'> {
  const { conditions } = (object.status ?? {}) as { readonly conditions?: unknown };
  return {
    metadata: trimMeta(object.metadata, (key) => key === kilnAnnotation.conditions),
    ...(conditions === undefined ? {} : { status: { conditions } }),
  };
}

/** The annotations about networks. */
export function networkAnnotations(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => NETWORK_KEYS.test(key)));
}

/** The networks of a virtual machine by their attachment. */
export function attachedNetworks(networks: readonly MachineNetwork[] | undefined): readonly MachineNetwork[] {
  return (networks ?? []).flatMap(({ multus }) =>
    multus?.networkName === undefined ? [] : [{ multus: { networkName: multus.networkName } }],
  );
}
