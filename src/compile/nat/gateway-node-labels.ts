/**
 * The label of gateway nodes on those that the ConfigMap of the external gateway names: agents and Vpcs of tenants read it. An annotation
 * beside the label says that Kiln set it. Kiln removes both when the name goes; a label that a user set stays. With type `distributed` no name
 * counts: the nodes that are gateway nodes stay so, else all external networks would end with the edit.
 */
import { EXTERNAL_GATEWAY_CONFIG, kilnAnnotation, labelKey } from '../../api/well-known.ts';
import { ONCE } from '../../engine/domain.ts';
import { enabledGatewayConfig, gatewayConfigKey } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { PatchOutput } from '../output.ts';

interface GatewayNode {
  readonly uid: string;
  readonly label: string;
  readonly made: boolean;
}

/** A projection: a kubelet writes its node every few seconds. Undefined for a missing one, and one that is being deleted. */
const gatewayNode: Query<GatewayNode | undefined> = defineQuery('gateway-node', (world, name) => {
  const node = world.nodes.get(name);
  if (node === undefined || node.metadata.deletionTimestamp !== undefined) return undefined;
  const { uid, labels, annotations } = node.metadata;
  return { uid, label: labels?.[labelKey.externalGateway] ?? '', made: annotations?.[kilnAnnotation.gatewayOf] !== undefined };
});

export const gatewayNodeLabels: Rule = {
  name: 'gateway-node-labels',
  over: () => ONCE,
  run: (world) => {
    const { nodes = [], distributed = false } = enabledGatewayConfig(world) ?? {};
    const named = new Set(nodes);
    const config = gatewayConfigKey(world.settings);
    // A ConfigMap that exists says by itself that the label goes.
    const left = world.externalGatewayConfigs.has(config) ? undefined : `configmap/${config}`;
    const patches: PatchOutput[] = [];
    for (const name of [...new Set([...named, ...world.nodes.bucket('madeGateway', 'true')])].toSorted()) {
      const node = world.ask(gatewayNode, name);
      if (node === undefined) continue;
      const patch = { kind: 'patch', resource: 'nodes', key: name, uid: node.uid } as const;
      const { gatewayOf } = kilnAnnotation;
      const label = labelKey.externalGateway;
      if (distributed && node.made && node.label === 'true') patches.push(keeps(patch));
      else if (!named.has(name))
        patches.push({
          ...patch,
          annotations: { [gatewayOf]: null },
          ...(node.label === 'true' && { labels: { [label]: null } }),
          ...(left !== undefined && { leftOf: { [gatewayOf]: left, [label]: left } }),
        });
      // A node that a user labelled needs nothing.
      else if (node.made || node.label !== 'true') patches.push(keeps(patch));
    }
    return patches;
  },
};

function keeps(patch: PatchOutput): PatchOutput {
  return { ...patch, annotations: { [kilnAnnotation.gatewayOf]: EXTERNAL_GATEWAY_CONFIG }, labels: { [labelKey.externalGateway]: 'true' } };
}
