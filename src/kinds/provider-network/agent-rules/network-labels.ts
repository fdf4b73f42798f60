/** What the Node object says of a ProviderNetwork: labels, and an annotation with the cause where it is not ready. */
import { isLabelValue } from '../../../api/values/label-value.ts';
import {
  networkOfNodeKey,
  NODE_NETWORK_ANNOTATIONS,
  NODE_NETWORK_LABELS,
  nodeNetworkKey,
  type NodeNetworkAnnotation,
  type NodeNetworkLabel,
} from '../resource/node-network.ts';
import type { NodeFacts } from '../../node/agent-table.ts';
import type { NodeOutput } from '../../../agent/world/outputs.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';

/** How a network is on this node. */
export type NetworkState =
  | {
      readonly kind: 'ready';
      readonly uplink: string;
      readonly mtu: number;
      /** VLAN interfaces of the node work through its bridge. */
      readonly vlanInterfaces: boolean;
      /** What would be lost, or is otherwise than before. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'excluded' }
  /** Labels stay as they are. */
  | { readonly kind: 'working' };

export function labels(
  { node }: NodeSettings,
  { labels: present, annotations }: NodeFacts,
  network: string,
  state: NetworkState,
): readonly NodeOutput[] {
  if (state.kind === 'working') return [];
  const wanted = wantedLabels(state);
  const texts: Readonly<Record<NodeNetworkAnnotation, string | undefined>> = {
    err_mesg: state.kind === 'failed' ? state.why : undefined,
    warning: state.kind === 'ready' ? warningOf(state.warnings) : undefined,
  };
  return [
    {
      kind: 'object-metadata',
      resource: 'nodes',
      name: node,
      labels: Object.fromEntries(
        NODE_NETWORK_LABELS.map((suffix) => [nodeNetworkKey(network, suffix), wanted[suffix] ?? null] as const).filter(
          ([key, value]) => value !== null || present[key] !== undefined,
        ),
      ),
      annotations: Object.fromEntries(
        NODE_NETWORK_ANNOTATIONS.map((suffix) => [nodeNetworkKey(network, suffix), texts[suffix] ?? null] as const).filter(
          ([key, value]) => value !== null || annotations[key] !== undefined,
        ),
      ),
    },
  ];
}

function warningOf([first, ...others]: readonly string[]): string | undefined {
  return first === undefined || others.length === 0 ? first : `${first} (and ${others.length} more)`;
}

function wantedLabels(state: NetworkState): Partial<Record<NodeNetworkLabel, string>> {
  switch (state.kind) {
    case 'ready':
      return {
        ready: 'true',
        mtu: String(state.mtu),
        ...(isLabelValue(state.uplink) && { interface: state.uplink }),
        ...(state.vlanInterfaces && { vlan_interfaces: 'true' }),
      };
    case 'excluded':
      return { exclude: 'true' };
    default:
      return {};
  }
}

/** Labels of networks that are gone from this node. @param networks those that are not */
export function labelsOfNone(
  networks: ReadonlySet<string>,
  { node }: NodeSettings,
  { labels: present, annotations }: NodeFacts,
): readonly NodeOutput[] {
  const gone = (keys: readonly string[], suffixes: readonly string[]): Readonly<Record<string, null>> =>
    Object.fromEntries(
      keys.flatMap((key) => {
        const network = networkOfNodeKey(key, suffixes);
        return network === undefined || networks.has(network) ? [] : [[key, null]];
      }),
    );
  const [left, errors] = [gone(Object.keys(present), NODE_NETWORK_LABELS), gone(Object.keys(annotations), NODE_NETWORK_ANNOTATIONS)];
  if (Object.keys(left).length + Object.keys(errors).length === 0) return [];
  return [{ kind: 'object-metadata', resource: 'nodes', name: node, labels: left, annotations: errors }];
}
