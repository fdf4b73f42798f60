/**
 * What every cluster begins with: the namespaces that always exist, and all CRDs, established. Made once in a process. Lives share it,
 * since objects in the store are never changed in place.
 */
import { allCrds } from '../../../src/api/kinds/crds.ts';
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import type { ResourceDefinition } from '../../../lab/apiserver/resource.ts';
import { LabApi } from '../../../lab/apiserver/server.ts';
import type { StoredObject } from '../../../lab/apiserver/store.ts';
import { networkAttachmentCrd } from '../../../lab/network-attachment-crd.ts';
import { Random } from './random.ts';
import { EPOCH } from './virtual-time.ts';

export interface Newborn {
  readonly revision: number;
  readonly objects: readonly StoredObject[];
  readonly namespaces: number;
  readonly crds: number;
}

let made: Newborn | undefined;

export function initialStore(): Newborn {
  return (made ??= make());
}

function make(): Newborn {
  const uids = new Random(0x1ab);
  const due: (() => void)[] = [];
  const lab = new LabApi({
    now: () => EPOCH,
    uid: () => uids.uuid(),
    suffix: () => uids.uuid().slice(0, 5),
    schedule: (step) => void due.push(step),
    after: () => () => undefined,
  });
  const definition = lab.registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions') as ResourceDefinition;
  const namespaces = lab.store.all().length;
  const crds = [...allCrds({ cel: true }), networkAttachmentCrd, ...kubevirtCrds()];
  for (const crd of crds) lab.operations.create(definition, '', structuredClone(crd) as unknown as JsonObject);
  for (let step = due.shift(); step !== undefined; step = due.shift()) step();
  lab.stop();
  return { revision: lab.store.revision, objects: lab.store.all(), namespaces, crds: crds.length };
}

function kubevirtCrds(): readonly JsonObject[] {
  return ['VirtualMachine', 'VirtualMachineInstance', 'VirtualMachineInstanceMigration'].map((kind) => {
    const singular = kind.toLowerCase();
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${singular}s.kubevirt.io` },
      spec: {
        group: 'kubevirt.io',
        scope: 'Namespaced',
        names: { plural: `${singular}s`, singular, kind },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
  });
}
