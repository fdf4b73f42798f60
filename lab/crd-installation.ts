/**
 * Installs the CRDs of Kube-OVN and of network attachments into an API server, and waits until they are served.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Crd } from '../src/api/kinds/crds.ts';
import { allCrds } from '../src/api/kinds/crds.ts';
import type { KubeClient } from '../src/kube/client/client.ts';
import { DEFINITIONS } from '../src/kube/cache/definition-watch.ts';
import { isKubeError } from '../src/kube/errors.ts';
import type { KubeObject } from '../src/kube/resource.ts';
import { networkAttachmentCrd } from './network-attachment-crd.ts';

/** Longer than a loaded machine needs. */
const ESTABLISHED_MS = 120_000;

interface ServedCrd extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null };
}

/** @param cel false for an API server before 1.25, which does not support `x-kubernetes-validations` */
export async function installCrds(client: KubeClient, cel = true): Promise<void> {
  const crds: readonly (Crd | KubeObject)[] = [...allCrds({ cel }), networkAttachmentCrd];
  for (const crd of crds) {
    try {
      await client.create<KubeObject>(DEFINITIONS, crd);
    } catch (error) {
      if (!isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
    }
  }
  for (const crd of crds) await established(client, crd.metadata.name);
}

async function established(client: KubeClient, name: string): Promise<void> {
  for (const end = performance.now() + ESTABLISHED_MS; performance.now() < end;) {
    const crd = await client.get<ServedCrd>(DEFINITIONS, { name });
    if (crd.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true) return;
    await sleep(50);
  }
  throw new Error(
    `the API server does not establish the CustomResourceDefinition ${name}; see its conditions: kubectl describe crd ${name}`,
  );
}
