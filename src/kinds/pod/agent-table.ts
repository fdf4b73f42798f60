import { agentTableOf } from '../../agent/world/agent-table.ts';
import type { Probe } from '../../agent/world/probe.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { podProbes, type ProbedSpec } from './agent-rules/pod-probes.ts';
import { resource } from './resource.ts';

/** The parts of a pod of this node that the agent reads. */
export interface NodePod {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** It has a runtime class: its runtime may be one with a network of its own. */
  readonly ofRuntimeClass?: true;
  /** Missing: none. */
  readonly probes?: readonly Probe[];
}

interface PodObject extends KubeObject {
  readonly spec?: ProbedSpec & { readonly hostNetwork?: boolean; readonly runtimeClassName?: string };
}

/** Of this node alone. */
export const agentTable = agentTableOf({
  resource,
  selects: (node) => `spec.nodeName=${node}`,
  view: ({ metadata: { uid, annotations }, spec = {} }: PodObject): NodePod => {
    const probes = spec.hostNetwork === true ? [] : podProbes(spec);
    return {
      uid: uid ?? '',
      annotations: annotations ?? {},
      ...(spec.runtimeClassName && { ofRuntimeClass: true }),
      ...(probes.length > 0 && { probes }),
    };
  },
});
