/**
 * The CRD of NetworkAttachmentDefinitions, by the de-facto standard of the Network Plumbing Working Group: a kind with one text field.
 * Clusters with Multus have it; the laboratory has its own copy.
 */
import type { KubeObject } from '../src/kube/resource.ts';

const names = {
  plural: 'network-attachment-definitions',
  singular: 'network-attachment-definition',
  kind: 'NetworkAttachmentDefinition',
  shortNames: ['net-attach-def'],
};

export const networkAttachmentCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'network-attachment-definitions.k8s.cni.cncf.io' },
  spec: {
    group: 'k8s.cni.cncf.io',
    scope: 'Namespaced',
    names,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { config: { type: 'string' } } } } },
        },
      },
    ],
  },
} satisfies KubeObject & { readonly spec: unknown };
