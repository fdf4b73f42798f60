/**
 * `external_ids` of an Interface that the agent made. The first are Kube-OVN's, which `kubectl ko` reads; the others let a restarted agent
 * find the attachment again.
 */
export const portKey = {
  port: 'iface-id',
  vendor: 'vendor',
  podName: 'pod_name',
  podNamespace: 'pod_namespace',
  namespacePath: 'pod_netns',
  addresses: 'ip',
  container: 'kiln.io/container',
  interface: 'kiln.io/interface',
  provider: 'kiln.io/provider',
  /** Routes of the network configuration, as JSON; missing for none. */
  routes: 'kiln.io/routes',
  /** Of a row of QoS or Queue: the port that it is for. */
  device: 'kiln.io/device',
  /** Of the node's own ports. */
  node: 'kiln.io/node',
  /** Of a bridge of a ProviderNetwork, and of the port of the node's interface in it: the network. */
  providerNetwork: 'kiln.io/provider-network',
  /** Of such a bridge: the node's interface. */
  uplink: 'kiln.io/interface-of-node',
  /** Of such a bridge: addresses and routes that it has instead of the interface. */
  moved: 'kiln.io/moved',
  /** Of such a bridge: VLAN interfaces of the node that are on it instead of the interface. */
  vlanInterfaces: 'kiln.io/vlan-interfaces',
  /** Of the row of Open_vSwitch: interfaces of the node in these bridges, with what they had, by network. */
  taken: 'kiln.io/taken-interfaces',
} as const;

/** Of the row of Open_vSwitch: the entries that the agent wrote; others in `ovn-bridge-mappings` are another program's. */
export const OWN_MAPPINGS = 'kiln.io/bridge-mappings';
export const VENDOR = 'kube-ovn';
/** ovn-controller sets it when the flows of the port are installed. */
export const INSTALLED = 'ovn-installed';
