import { agentTableOf } from '../../agent/world/agent-table.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { resource } from './resource.ts';

/** The parts of a pod of this node that the agent reads. */
export interface NodePod {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Of this node alone. */
export const agentTable = agentTableOf({
  resource,
  selects: (node) => `spec.nodeName=${node}`,
  view: ({ metadata: { uid, annotations } }: KubeObject): NodePod => ({ uid: uid ?? '', annotations: annotations ?? {} }),
});
