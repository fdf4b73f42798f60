/**
 * Failure cases of the node side (N) and of the traffic side (T). Their numbers have gaps. The name of a test that shows a case begins with
 * its number (`test('N05: …')`, `name: 'T66 …'` of a scenario), at whatever level that is cheapest: a rule, the node simulator, real
 * packets, a real cluster. A case without a test has a sentence that says why.
 */

export interface PacketCase {
  readonly number: string;
  readonly family: string;
  readonly title: string;
  /** Why no test shows the case, or what of it no test shows. */
  readonly untested?: string;
  /** The kind without which the case cannot happen: once it is implemented, the case needs a test. */
  readonly waitsFor?: string;
}

export const PACKET_CASES: readonly PacketCase[] = [
  ...family(
    'CNI verbs',
    ['N01', 'a late ADD takes the name of its port from the sandbox that lives'],
    ['N02', 'an ADD succeeds on the flows of the old pod'],
    ['N03', 'a failed ADD leaves an interface, and each retry fails by it'],
    ['N04', 'a DEL fails since a failed ADD left nothing'],
    ['N05', 'a DEL without a network namespace, or with one that is gone'],
    ['N06', 'a DEL needs the API server'],
    ['N07', 'a DEL reports success although it failed'],
    ['N09', 'configuration or program of the plugin is written by half'],
    ['N10', "the file of the agent's socket is gone, and its probes say ok"],
    ['N11', 'the check of the gateway lasts longer than the pod'],
    ['N12', 'the result lacks what Multus reads'],
    [
      'N14',
      'the pod runs, and its port is missing',
      'No Event and no metric tells that it happened: `kiln agent status` does, while the port is missing.',
    ],
  ),
  ...family(
    'Leaks and collection on the node',
    ['N15', 'ports without a device after the node started again'],
    ['N16', 'collection takes the port of a virtual machine that runs'],
    ['N18', 'each probe leaves a handle open'],
  ),
  ...family(
    'Restarts of the node',
    ['N19', 'a restart of Open vSwitch loses traffic'],
    [
      'N20',
      'the database is away, and with it the data plane',
      'The database is away for seconds, not for ten minutes: ovn-controller has no timer that would end it.',
    ],
    ['N21', "the agent's start writes again what is right"],
  ),
  ...family(
    'Routes and rules of the node',
    ['N23', 'a restart of the network of the node deletes routes'],
    ['N24', 'another program deletes the policy rules', 'No Event names the program that did it: the kernel does not tell.'],
    [
      'N26',
      'firewalld reloads and flushes the packet filter',
      'The rules of a hostPort are of the plugin `portmap`, which writes them in an ADD alone: after a flush they come back with the next sandbox of the pod.',
    ],
    ['N27', 'an ADD waits for the lock of the packet filter'],
    ['N28', 'rules are written again in each round'],
    ['N30', 'our chain runs after that of kube-proxy'],
    ['N32', 'an egress gateway of both families and a pod of one'],
  ),
  ...family(
    'MTU, checksums, addresses',
    ['N34', 'the MTU does not fit the tunnel or the underlay'],
    ['N36', 'large packets towards pods vanish'],
    ['N37', 'the checksum setting comes before the device exists'],
    ['N38', 'duplicate detection passes since the wire is not there yet'],
    ['N39', 'a conflict of addresses keeps a virtual machine from starting for hours'],
    ['N40', 'neighbours keep the old MAC of an address'],
    ['N41', 'the pod takes addresses and routes from router advertisements'],
    ['N42', 'the address of a node changes'],
    ['N43', 'a node joins again with another system-id'],
  ),
  ...family(
    'Provider networks on the node',
    ['N44', "the move of an address cuts the agent's own connection"],
    ['N45', 'after a start the bridge is there, and the address is on the interface'],
    ['N46', 'NetworkManager configures the same interface'],
    ['N47', 'the interface is gone before the network'],
    ['N48', 'VLAN interfaces of the interface that the bridge takes'],
  ),
  ...family(
    'hostPort, probes, limits',
    ['N49', 'a UDP client of a hostPort stays with the dead pod'],
    ['N50', 'probes into pods of custom Vpcs'],
    ['N51', 'more ports than tunnel keys'],
    ['N52', 'the disk is full'],
    ['N53', 'the clock jumps'],
  ),
  ...family(
    'Services',
    ['T01', 'UDP clients stay with a backend that is gone', { waitsFor: 'Service' }],
    ['T04', 'all local endpoints are terminating', { waitsFor: 'Service' }],
    ['T05', 'one address in two slices', { waitsFor: 'Service' }],
    ['T07', 'two addresses share a backend, and one loses its health check', { waitsFor: 'SwitchLBRule' }],
    ['T09', 'a Vip is created before its SwitchLBRule', { waitsFor: 'SwitchLBRule' }],
    ['T11', 'families are mixed in one load balancer entry', { waitsFor: 'Service' }],
    ['T12', 'a family is added to or taken from a Service', { waitsFor: 'Service' }],
    ['T13', 'all IPv6 clients get one backend', { waitsFor: 'Service' }],
    ['T14', 'affinity or traffic policy changes later', { waitsFor: 'Service' }],
    ['T16', 'the repair at a start deletes live entries', { waitsFor: 'Service' }],
    ['T17', 'a Service without endpoints drops in silence', { waitsFor: 'Service' }],
    ['T19', 'a NodePort of the policy Local is asked on another node', { waitsFor: 'Service' }],
    ['T20', 'the health check port after a change of the policy', { waitsFor: 'Service' }],
    ['T21', 'a pod reaches itself by its Service under a policy', { waitsFor: 'Service' }],
  ),
  ...family(
    'NetworkPolicy',
    ['T23', '`except` denies what another peer allows', { waitsFor: 'NetworkPolicy' }],
    ['T24', 'named ports become port 0, or a range from 0', { waitsFor: 'NetworkPolicy' }],
    ['T25', 'addresses of Services in the sets of egress rules', { waitsFor: 'NetworkPolicy' }],
    ['T26', 'no peer matches, and everything is allowed', { waitsFor: 'NetworkPolicy' }],
    ['T27', 'the address of a completed pod belongs to a new pod', { waitsFor: 'NetworkPolicy' }],
    ['T28', 'the first packets come before the policy', { waitsFor: 'NetworkPolicy' }],
    ['T29', "the node's own probes are blocked", { waitsFor: 'NetworkPolicy' }],
    ['T31', 'sets are written for pods that never ran', { waitsFor: 'NetworkPolicy' }],
  ),
  ...family(
    'Admin policies and SecurityGroups',
    ['T35', 'a rule gets another name, and everything is allowed', 'Kiln reads no AdminNetworkPolicy, and writes no row for one.'],
    ['T37', 'ACLs are deleted and created again on any edit', { waitsFor: 'SecurityGroup' }],
    ['T38', 'a SecurityGroup and ACLs of the Subnet together', { waitsFor: 'SecurityGroup' }],
    ['T39', 'collection takes foreign port groups; the status names the wrong direction', { waitsFor: 'SecurityGroup' }],
  ),
  ...family(
    'QoS',
    ['T40', 'QoS rows outlive their annotation'],
    [
      'T41',
      'UDP is not limited',
      'limits are of the whole port, of every protocol (T40 has the rows): a queue for what the pod gets, policing for what it sends, which the userspace datapath of the laboratory does not do; no test sends as much as is allowed',
    ],
    ['T42', 'the limits of one EIP damage those of another', { waitsFor: 'QoSPolicy' }],
  ),
  ...family(
    'NAT and EIP',
    ['T43', 'the pod of a gateway restarts in place, and its rules are gone'],
    ['T44', 'traffic comes before the rules, and its connections stay as they are'],
    ['T45', 'an EIP moves, and neighbours keep the MAC'],
    ['T46', 'an OvnFip moves from one pod to another'],
    ['T47', 'one inner network, two outer addresses'],
    [
      'T51',
      'a deleted OvnFip still works',
      'of an address that another OvnFip has at once, connections that go on may stay with the first pod: OVN flushes no connections of NAT',
    ],
    ['T52', 'TCP packets without a connection leave without SNAT'],
    ['T53', 'a restart of the controller cuts the way out'],
  ),
  ...family(
    'Gateways, ECMP, BFD',
    ['T54', 'a gateway node is not ready and alive, or dead and still listed'],
    [
      'T56',
      'the flows of one source take several hops',
      'they do: OVN 23.03 shares by flow alone, and gateway nodes keep no state of connections, so none breaks; rows are not made anew (`bfd.test.ts`)',
    ],
    ['T57', 'a BFD session is lost and not built again', 'VpcEgressGateways are not a part yet: shown for gateway nodes'],
    ['T60', 'a terminating gateway stays'],
    ['T61', 'the external gateway names the wrong interface'],
    ['T62', 'a router keeps a dead MAC'],
  ),
  ...family(
    'Underlay',
    ['T66', 'the conflict of two Vlans never ends'],
    ['T67', 'the Subnet comes before its Vlan'],
    ['T69', 'u2o in a custom Vpc, and hostPort with it'],
  ),
];

type Line = readonly [number: string, title: string, rest?: string | Pick<PacketCase, 'waitsFor'>];

function family(name: string, ...lines: readonly Line[]): readonly PacketCase[] {
  return lines.map(([number, title, rest = {}]) => ({
    number,
    family: name,
    title,
    ...(typeof rest === 'string' ? { untested: rest } : rest),
  }));
}
