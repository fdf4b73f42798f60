/**
 * Failure cases known from the field, of Kube-OVN and of comparable projects. Their numbers have gaps. The name of a scenario that covers a
 * case begins with its number. A case without a scenario waits for a kind or a feature that Kiln does not have. `npm run failure-cases`
 * generates the table in `docs/evidence/failure-cases.md` from them.
 */

export interface FailureCase {
  readonly number: string;
  readonly family: Family;
  readonly title: string;
  /** Kinds, custom or built-in, without which the case or a part of it cannot happen. */
  readonly waitsFor?: readonly string[];
  /** Another feature that the case waits for. */
  readonly waitsForFeature?: string;
  /** The part of the case that a scenario covers already, where the rest waits. */
  readonly shown?: string;
}

export type Family =
  | 'Deletion order and finalizers'
  | 'Uninstallation'
  | 'Addresses that are not released'
  | 'Addresses allocated twice'
  | 'Status that drifts'
  | 'Binding a pod to its Subnet'
  | 'Addresses retained for StatefulSets and virtual machines'
  | 'Address translation'
  | 'Services and load balancers'
  | 'Routes, policies and sets'
  | 'Foreign rows in one OVN'
  | 'Collection'
  | 'Restart, leaders and the database'
  | 'Upgrades';

const GATEWAY = ['VpcNatGateway', 'IptablesFIPRule', 'IptablesSnatRule', 'IptablesDnatRule'];

export const FAILURE_CASES: readonly FailureCase[] = [
  ...family(
    'Deletion order and finalizers',
    ['C01', 'a Vpc is deleted while its Subnets remain'],
    ['C02', 'a Vpc created again under its name gets its Subnets back'],
    ['C03', 'a Subnet is deleted whose router is gone already'],
    ['C05', 'a Vpc is deleted while NAT rules use it'],
    ['C07', 'a pod of many interfaces and its Subnet are deleted in the middle of the allocation'],
    ['C08', 'the Subnet of the first interface is removed by force, then the pod is deleted'],
    ['C09', 'network, Vpc, Subnets and pod are deleted in every order'],
    ['C11', 'a Subnet is deleted with its last dependent, without a restart'],
    ['C12', 'the event that a deletion waits for is never delivered'],
    ['C13', 'a whole set-up with a NAT gateway is deleted at once', { waitsFor: GATEWAY }],
    ['C15', 'rows whose objects and parents no longer exist'],
  ),
  ...family('Uninstallation', ['C16', 'the program is removed with everything it made, Custom Resource Definitions too']),
  ...family(
    'Addresses that are not released',
    ['C18', 'the finalizer of an EIP is removed by hand'],
    ['C19', 'an EIP that cannot be programmed is deleted'],
    ['C21', 'interfaces that get only an address here come and go more often than there are addresses'],
    ['C23', 'an interface of a virtual machine moves to another Subnet'],
    ['C24', 'a virtual machine is deleted while it is stopped, or while it runs'],
    ['C25', 'an IP object is removed by force, with and without its pod'],
    ['C27', 'pods that share a list of addresses end while no controller runs'],
    ['C28', 'completed and evicted pods release their addresses'],
    ['C30', 'many nodes come and go'],
  ),
  ...family(
    'Addresses allocated twice',
    ['C31', 'a static address is requested again while the port of the old pod still exists'],
    ['C32', 'a restart comes between two lives of a pod of a StatefulSet'],
    ['C33', 'attached interfaces and EIPs share one external Subnet'],
    ['C34', 'the address of a stopped virtual machine is not allocated to others'],
    ['C36', 'a network is widened and narrowed under pods'],
    ['C37', 'every kind of holder keeps its address over a restart'],
    ['C39', 'two launchers of one virtual machine share its address while it moves'],
    ['C40', 'two Vpcs have the same network, and two Subnets of one Vpc must not'],
    ['C42', 'rows of an old pod of the same name are collected, and rows of the new one are not'],
    ['C44', 'an address is requested between the end of its holder and its release'],
    ['C46', 'a pod is made again under its name on another node while the leader changes'],
  ),
  ...family(
    'Status that drifts',
    ['C48', 'counts and ranges of a Subnet agree after every event'],
    ['C50', 'both families of an address translation are removed'],
  ),
  ...family(
    'Binding a pod to its Subnet',
    ['C52', "pods come before their namespace's Subnet"],
    ['C53', 'annotations of a namespace are lost and overwritten by others'],
    ['C54', 'a namespace has several Subnets'],
    ['C56', 'a StatefulSet moves to another Subnet'],
  ),
  ...family(
    'Addresses retained for StatefulSets and virtual machines',
    ['C58', 'a pod is made again under its name and finds the old port'],
    ['C59', 'another interface of a virtual machine moves, this one stays'],
    ['C61', 'a security group is taken from a stopped virtual machine', { waitsFor: ['SecurityGroup'] }],
    ['C62', 'the address set of a security group forgets a pod', { waitsFor: ['SecurityGroup'] }],
  ),
  ...family(
    'Address translation',
    ['C63', 'a floating address is made and deleted at once'],
    ['C64', 'the end of a rule does not make its EIP ready'],
    ['C66', 'an EIP is removed by force while a rule uses it'],
    ['C68', 'a NAT gateway is deleted before its rules', { waitsFor: GATEWAY }],
    ['C70', 'an edit of the default Vpc leaves the rows of the system as they are'],
  ),
  ...family(
    'Services and load balancers',
    ['C71', 'the second address of a Service goes with it'],
    ['C73', 'a rule of several protocols leaves no entry', { waitsFor: ['SwitchLBRule'] }],
  ),
  ...family(
    'Routes, policies and sets',
    ['C74', "one policy route of a user leaves the system's as they are"],
    ['C76', 'a Subnet takes its policies along, and a restart writes nothing'],
    [
      'C78',
      'routes that the interconnection learned stay, and are removed with it',
      { waitsForFeature: 'interconnection (OVN-IC)', shown: 'learned rows stay' },
    ],
  ),
  ...family('Foreign rows in one OVN', ['C79', 'rows of Neutron, of ovn-kubernetes and without owner stay bit by bit']),
  ...family(
    'Collection',
    ['C81', 'a port without a pod is collected, wherever it is'],
    ['C82', 'no finding on a healthy cluster, whatever interfaces pods have'],
    ['C84', 'a namespace is deleted before what it holds', { waitsFor: ['NetworkPolicy'], shown: 'Subnets, pods and pools' }],
  ),
  ...family(
    'Restart, leaders and the database',
    ['C85', 'a process continues after it lost the Lease'],
    ['C87', 'objects are created and deleted while no controller runs'],
    [
      'C88',
      'no set is emptied and filled again at a start',
      { waitsFor: ['NetworkPolicy'], shown: 'port groups and the address sets of pools' },
    ],
  ),
  ...family('Upgrades', ['C90', 'objects and rows as an older version left them']),
];

type Line = readonly [number: string, title: string, waits?: Pick<FailureCase, 'waitsFor' | 'waitsForFeature' | 'shown'>];

function family(name: Family, ...lines: readonly Line[]): readonly FailureCase[] {
  return lines.map(([number, title, waits = {}]) => ({ number, family: name, title, ...waits }));
}

/** The numbers of the cases that a test shows, from the beginning of its name: `C24, C34 a virtual machine…`, `N50, N18: kubelet…`. */
export function casesOf(testName: string): readonly string[] {
  return (/^[CNT]\d\d(?:, [CNT]\d\d)*(?=:? )/.exec(testName)?.[0] ?? '').split(', ').filter((number) => number !== '');
}
