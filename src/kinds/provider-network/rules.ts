import type { Rule } from '../../compile/rule.ts';
import { deletionPatch } from '../../compile/deletion.ts';
import { findingsText } from '../../compile/findings-text.ts';
import type { ConditionOutput, Json, RowOwner } from '../../compile/output.ts';
import { commandText } from '../../text/command-text.ts';
import { keysOf } from '../../engine/domain.ts';
import { providerNetworkFindings } from './resource/provider-network-findings.ts';
import type { NodeNetworkState } from './rules/node-states.ts';
import { nodesOfNetwork } from './rules/node-states.ts';

/** Status and finalizer of a ProviderNetwork. What it is on nodes is the node agent's. */
const providerNetwork: Rule = {
  name: 'provider-network',
  over: (world) => keysOf(world.providerNetworks),
  run: (world, name) => {
    const object = world.providerNetworks.get(name);
    if (object === undefined) return [];
    const { uid, creationTimestamp: created, deletionTimestamp } = object.metadata;
    const owner: RowOwner = { kind: 'providernetwork', namespace: '', name, uid, created };
    const patch = deletionPatch(world, 'provider-networks', name, owner, deletionTimestamp !== undefined);
    const nodes = nodesOfNetwork(world, name);
    const [readyNodes, notReadyNodes] = [true, false].map((ready) =>
      nodes.filter(([, { kind }]) => (kind === 'ready') === ready).map(([node]) => node),
    ) as [string[], string[]];
    const findings = providerNetworkFindings(name, object.spec);
    const [first] = findings;
    const accepted: ConditionOutput =
      first === undefined
        ? { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' }
        : {
            ...{ type: 'Accepted', status: 'False', reason: first.code, event: 'Warning' },
            message: `${findingsText(findings)}; ${commandText`kubectl edit provider-network ${name}`}`,
          };
    return [
      {
        ...patch,
        conditions: [...(patch.conditions ?? []), accepted, readiness(name, nodes)],
        status: {
          vlans: [...world.vlans.bucket('provider', name)].toSorted(),
          // Without any node no pod can be on it.
          ready: readyNodes.length > 0 && notReadyNodes.length === 0,
          readyNodes,
          notReadyNodes,
          conditions: nodes.map(([node, state]) => conditionOfNode(node, state)),
        },
      },
    ];
  },
};

/** As Kube-OVN has it. */
function conditionOfNode(node: string, state: NodeNetworkState): { readonly [key: string]: Json } {
  return state.kind === 'not ready'
    ? { node, type: 'Ready', status: 'False', reason: 'InitOVSBridgeFailed', message: state.why || SILENT }
    : { node, type: 'Ready', status: 'True', reason: 'InitOVSBridgeSucceeded', message: state.kind === 'ready' ? state.warning : '' };
}

const SILENT = "the node's agent has not reported it yet";

function readiness(name: string, nodes: ReturnType<typeof nodesOfNetwork>): ConditionOutput {
  const failed = nodes.flatMap(([node, state]) => (state.kind === 'not ready' ? [[node, state.why] as const] : []));
  if (nodes.length > 0 && failed.length === 0) return ready(name, nodes);
  if (nodes.length === 0) {
    const message = `ProviderNetwork ${name} leaves out every node; ${commandText`kubectl edit provider-network ${name}`}`;
    return { type: 'Ready', status: 'False', reason: 'NodesNotReady', message, event: 'Warning' };
  }
  const [first = ['', ''], ...others] = failed.toSorted(([, a], [, b]) => Number(a === '') - Number(b === ''));
  const [node, why] = first;
  const more = andMore(others.length);
  const message = `ProviderNetwork ${name} is not ready on node ${node}: ${why || SILENT}${more}; ${commandText`kubectl describe node ${node}`}`;
  // A node that begins is no failure.
  return { type: 'Ready', status: 'False', reason: 'NodesNotReady', message, ...(why !== '' && { event: 'Warning' }) };
}

function ready(name: string, nodes: ReturnType<typeof nodesOfNetwork>): ConditionOutput {
  const warned = nodes.flatMap(([node, state]) => (state.kind === 'ready' && state.warning !== '' ? [[node, state.warning] as const] : []));
  const [first] = warned;
  if (first === undefined) return { type: 'Ready', status: 'True', reason: 'NodesReady', message: '' };
  const [node, warning] = first;
  const message = `ProviderNetwork ${name} is ready; on node ${node} ${warning}${andMore(warned.length - 1)}; ${commandText`kubectl describe node ${node}`}`;
  return { type: 'Ready', status: 'True', reason: 'NodesReadyWithWarning', message, event: 'Warning', eventOnce: true };
}

function andMore(nodes: number): string {
  return nodes === 0 ? '' : ` (and ${nodes} more ${nodes === 1 ? 'node' : 'nodes'})`;
}

export const rules: readonly Rule[] = [providerNetwork];
