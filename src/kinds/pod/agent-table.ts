import { agentTableOf } from '../../agent/world/agent-table.ts';
import type { Probe } from '../../agent/world/probe.ts';
import type { ObjectMeta } from '../../api/kubernetes/meta.ts';
import { launchedInstance } from '../../api/kubernetes/virtual-machine.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { podProbes, type ProbedSpec } from './agent-rules/pod-probes.ts';
import { resource } from './resource.ts';

/** The parts of a pod of this node that the agent reads. */
export interface NodePod {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The virtual machine that it runs, as the controller sees it: by its owner, which an annotation cannot replace. Missing: none. */
  readonly machine?: string;
  /** It has a runtime class: its runtime may be one with a network of its own. */
  readonly ofRuntimeClass?: true;
  /** Missing: none. */
  readonly probes?: readonly Probe[];
}

interface PodObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & Pick<ObjectMeta, 'ownerReferences'>;
  readonly spec?: ProbedSpec & { readonly hostNetwork?: boolean; readonly runtimeClassName?: string };
}

/** Of this node alone. */
export const agentTable = agentTableOf({
  resource,
  selects: (node) => `spec.nodeName=${node}`,
  view: ({ metadata, spec = {} }: PodObject): NodePod => {
    const { uid, annotations } = metadata;
    const machine = launchedInstance(metadata)?.name;
    const probes = spec.hostNetwork === true ? [] : podProbes(spec);
    return {
      uid: uid ?? '',
      annotations: annotations ?? {},
      ...(machine !== undefined && { machine }),
      ...(spec.runtimeClassName && { ofRuntimeClass: true }),
      ...(probes.length > 0 && { probes }),
    };
  },
});
