/** The bridge of OVN, and what ovn-controller has to know of this node. */
import { annotationKey } from '../../../api/well-known.ts';
import type { Rule } from '../../../engine/compiler.ts';
import { ONCE } from '../../../engine/domain.ts';
import type { DeviceName } from '../../../agent/world/attachment.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeOutput } from '../../../agent/world/outputs.ts';
import { portKey, VENDOR } from '../../../agent/world/port-keys.ts';
import { isLostDevice } from '../../../agent/rules/lost-device.ts';
import { tunnelAddress } from './tunnel-address.ts';
import { INTEGRATION_BRIDGE, type NodeSettings } from '../../../agent/rules/node-settings.ts';

export function nodeBridge(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'node-bridge',
    over: () => ONCE,
    run(world) {
      const node = world.nodes.get(settings.node);
      const bridge: NodeOutput = { kind: 'bridge', name: INTEGRATION_BRIDGE, datapathType: settings.datapath };
      const mirror = mirrorOf(world, settings);
      // Without an address there is no tunnel, and ovn-controller must not register with another one.
      if (node === undefined) return [bridge, ...mirror];
      const { address, told } = tunnelAddress(world, node);
      const events = told === undefined ? [] : [tunnelEvent(settings.node, node.uid, told)];
      if (address === undefined) return [bridge, ...mirror, ...events];
      const externalIds = {
        // The chassis keeps its name: another one would leave the first behind in the Southbound database, which takes no second chassis with the
        // address of its tunnels. So a node that is set up anew has that of its predecessor: not the uid of the Node object.
        'system-id': world.settings.get('system-id') ?? settings.node,
        'ovn-remote': settings.southbound,
        'ovn-encap-type': settings.tunnel,
        'ovn-encap-ip': address,
        'ovn-bridge-datapath-type': settings.datapath,
      };
      const settled = world.settings.get('system-id');
      // The controller makes gateways of it, so it has to be the chassis that ovn-controller registers.
      const annotations: readonly NodeOutput[] =
        settled === undefined
          ? []
          : [{ kind: 'object-metadata', resource: 'nodes', name: settings.node, annotations: { [annotationKey.chassis]: settled } }];
      return [bridge, ...mirror, ...events, { kind: 'settings', externalIds }, ...annotations];
    },
  };
}

function tunnelEvent(name: string, uid: string, message: string): NodeOutput {
  return { kind: 'object-event', resource: 'nodes', namespace: '', name, uid, reason: 'TunnelAddress', message };
}

/** As Kube-OVN has it: `tcpdump -i mirror0` shows the packets of pods with annotation `mirror`. */
function mirrorOf(world: NodeWorld, { node }: NodeSettings): readonly NodeOutput[] {
  const port = 'mirror0' as DeviceName;
  const made: NodeOutput = {
    kind: 'port',
    name: port,
    bridge: INTEGRATION_BRIDGE,
    type: 'internal',
    externalIds: { [portKey.vendor]: VENDOR, [portKey.node]: node },
  };
  return [
    ...(isLostDevice(world, port) ? [] : [made]),
    { kind: 'link', name: port, mac: undefined, mtu: undefined, addresses: [], routes: [] },
    { kind: 'mirror', name: 'm0', bridge: INTEGRATION_BRIDGE, port },
  ];
}
