/**
 * IPPool: usage, conditions, optional address set, and deletion. The Subnet's rule passes its addresses to the allocator.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { poolHostBits } from '../../api/validation/ip-pool-host-bits.ts';
import { ipPoolAddressSet, ipPoolAddressSetV6 } from '../../api/names.ts';
import type { PoolAddresses } from '../../api/validation/pool-ranges.ts';
import { cidrCover } from '../../net/cidr-cover.ts';
import type { Family } from '../../net/address.ts';
import { bitsOf, formatAddress } from '../../net/address.ts';
import { formatCidr, networkAddress } from '../../net/cidr.ts';
import { ownerText } from '../../nb/ownership.ts';
import { rowId } from '../../nb/row-id.ts';
import { DEFAULT_PROVIDER } from '../../api/well-known.ts';
import { namespaceBinding } from '../namespace/namespace-binding.ts';
import { namespacesFindings } from '../namespace/listed-namespaces.ts';
import { findingsText, namesText } from '../findings-text.ts';
import { withNext } from '../next-command.ts';
import { keysOf } from '../../engine/domain.ts';
import type { FamilyUsage, SubnetUsage } from '../../world/reservations.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { RowOwner, ConditionOutput, Json, Output, PatchOutput } from '../output.ts';
import { rowConflictOf } from '../row-conflict.ts';
import { subnetAcceptance } from '../subnet/validity/subnet-acceptance.ts';
import { subnetReady, isClosed } from '../subnet/validity/subnet-ready.ts';
import { ipPoolAddresses } from './ip-pool-subnet.ts';
import { poolFindings, poolView } from './ip-pool-findings.ts';
import type { PoolView } from './ip-pool-findings.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { isOurs } from '../vpc/vpc-view.ts';
import { unreadAnnotations } from '../unread-annotations.ts';
import { ineffectiveCondition } from '../ineffective-condition.ts';
import { addressSetOnRequest } from '../ineffective-names.ts';
import { commandText } from '../../text/command-text.ts';

const RULE = 'ip-pool';

addressSetOnRequest.define((world, set) => {
  const text = set.replace(/_v[46]$/, '').replace(/^_/, '');
  const pool = [text, text.replaceAll('.', '-')].find(
    (name) => world.ask(poolView, name) !== undefined && [ipPoolAddressSet(name), ipPoolAddressSetV6(name)].includes(set),
  );
  return pool === undefined || world.ask(poolView, pool)?.spec.enableAddressSet === true
    ? undefined
    : commandText`IPPool ${pool} has an address set only with spec.enableAddressSet (kubectl edit ippool ${pool})`;
});

export const ipPool: Rule = {
  name: RULE,
  over: (world) => keysOf(world.ipPools),
  run: (world, name) => {
    const pool = world.ask(poolView, name);
    if (pool === undefined) return [];
    const owner: RowOwner = { kind: 'ippool', namespace: '', name, uid: pool.uid, created: pool.created };
    const patch = { kind: 'patch', resource: 'ippools', key: name, uid: pool.uid } as const;
    if (pool.terminating) return [{ ...patch, finalizer: world.rows.ownedBy(ownerText(owner)).size > 0 }];
    const findings = poolFindings(world, pool);
    const finding = findings.length > 0 ? { message: findingsText(findings) } : latePoolFinding(world, pool);
    const usage = world.poolUsage.get(name);
    const outputs: Output[] = [];
    const ineffectiveReport = ineffectiveCondition(
      finding === undefined ? ineffective(world, pool, usage) : [],
      commandText`kubectl edit ippool ${name}`,
    );
    const report: PatchOutput = {
      ...patch,
      finalizer: true,
      conditions: [
        ...conditionsOf(name, finding, rowConflictOf(world, owner), waitsFor(world, pool)),
        ...(ineffectiveReport.conditions ?? []),
      ],
      withoutConditions: [...(finding === undefined ? (['Error'] as const) : []), ...(ineffectiveReport.withoutConditions ?? [])],
      ...(usage !== undefined && { status: { ...familyStatus('v4', usage.v4), ...familyStatus('v6', usage.v6) } }),
    };
    outputs.push(report);
    if (pool.spec.enableAddressSet !== true) return outputs;
    const sets = finding === undefined ? addressSetsOf(name, world.ask(ipPoolAddresses, name)) : retainedSets(world, name, owner);
    for (const [set, addresses] of sets)
      outputs.push({
        kind: 'row',
        id: rowId('Address_Set', set),
        owner,
        rule: RULE,
        columns: { name: set, addresses },
        externalIds: { ippool: name },
      });
    return outputs;
  },
};

/** A Subnet that is being deleted accepts no new pool; existing ones stay until it is gone. */
function latePoolFinding(world: World, { name, created, spec }: PoolView): Pick<Finding, 'message'> | undefined {
  const since = world.ask(subnetDeletion, spec.subnet);
  if (since === undefined || created < since || !world.ask(isClosed, spec.subnet)) return undefined;
  return { message: latePoolMessage(name, spec.subnet) };
}

/** The message of a new pool in a Subnet that is being deleted. */
export function latePoolMessage(name: string, subnet: string): string {
  return `IPPool ${name}: spec.subnet "${subnet}" accepts no new pool: Subnet ${subnet} is being deleted; ${commandText`kubectl describe subnet ${subnet}`}`;
}

const subnetDeletion: Query<string | undefined> = defineQuery(
  'subnet-deletion',
  (world, name) => world.ask(subnetIntent, name)?.metadata.deletionTimestamp,
);

function ineffective(world: World, pool: PoolView, usage: SubnetUsage | undefined): readonly Finding[] {
  const { name, spec } = pool;
  return [
    ...namespacesFindings(world, { kind: 'IPPool', name }, spec.namespaces),
    ...poolElsewhere(world, pool),
    ...poolHostBits({ name, spec }),
    ...unreadAnnotations({ kind: 'IPPool', name }, pool.annotations),
    ...withoutAddresses(world, pool, usage),
  ];
}

/**
 * A pool in the join Subnet, or namespaces whose pods are in other Subnets: a pod takes addresses of the pools in its own Subnet alone. A pool for attachments is taken
 * by name, and there the list is a boundary.
 */
function poolElsewhere(world: World, { name, spec }: PoolView): readonly Finding[] {
  const { namespaces = [] } = spec;
  if (spec.subnet === world.settings.joinSubnet)
    return [
      findingOf(
        { kind: 'IPPool', name },
        {
          code: 'JoinHasNoPods',
          field: 'spec.subnet',
          value: spec.subnet,
          problem: 'is for nodes and has no pods',
          rule: 'no pod gets an address of the pool, also by its name, and nodes use none: create the pool in a Subnet of pods',
        },
      ),
    ];
  if (world.ask(subnetView, spec.subnet)?.provider !== DEFAULT_PROVIDER) return [];
  return namespaces.flatMap((namespace, i) => {
    const { subnets, undecided } = world.ask(namespaceBinding, namespace);
    if (undecided !== undefined || subnets.length === 0 || subnets.includes(spec.subnet)) return [];
    return [
      findingOf(
        { kind: 'IPPool', name },
        {
          code: 'PoolOutsideNamespace',
          field: `spec.namespaces[${i}]`,
          value: namespace,
          problem: `is a namespace whose pods are in Subnet ${namesText(subnets)}`,
          rule: `they take no address of it unless they name it or its Subnet: list the namespace in spec.namespaces of Subnet ${spec.subnet}, or create the pool in a Subnet of the namespace`,
        },
      ),
    ];
  });
}

/** The finding if no address of a valid pool is in use or can be allocated. */
function withoutAddresses(world: World, { name, spec }: PoolView, usage: SubnetUsage | undefined): readonly Finding[] {
  if (usage === undefined || !world.ask(subnetReady, spec.subnet).ready) return [];
  if ([usage.v4, usage.v6].some(({ available, using }) => available > 0n || using > 0n)) return [];
  return [
    findingOf(
      { kind: 'IPPool', name },
      {
        code: 'PoolNeverGiven',
        field: 'spec.ips',
        value: spec.ips.join(','),
        problem: `has no address that Subnet ${spec.subnet} gives`,
        rule: 'the gateway, the addresses in spec.excludeIps, those of ports of other programs, the first address of a network, and the last one of an IPv4 network are not allocated',
      },
    ),
  ];
}

type NamedSet = readonly [name: string, addresses: readonly string[]];

/** The address sets of a pool: one per family, since OVN rejects a match with a set of both families. */
function addressSetsOf(pool: string, addresses: PoolAddresses): readonly NamedSet[] {
  const [v4, v6] = [textsOf(addresses, 4), textsOf(addresses, 6)];
  const name = ipPoolAddressSet(pool);
  if (v4.length === 0 || v6.length === 0) return [[name, [...v4, ...v6]]];
  return [
    [name, v4],
    [ipPoolAddressSetV6(pool), v6],
  ];
}

/** Addresses and networks, in OVN's syntax, that cover a family of the pool exactly. */
function textsOf(addresses: PoolAddresses, family: Family): readonly string[] {
  return addresses[family].intervals
    .flatMap((interval) => cidrCover({ family, ...interval }))
    .map((cidr): string => (cidr.prefix === bitsOf(family) ? formatAddress(networkAddress(cidr)) : formatCidr(cidr)))
    .toSorted();
}

/** The sets of an invalid pool stay: without the set OVN would ignore a match that names it. */
function retainedSets(world: World, pool: string, owner: RowOwner): readonly NamedSet[] {
  return [ipPoolAddressSet(pool), ipPoolAddressSetV6(pool)].flatMap((set): readonly NamedSet[] => {
    const id = rowId('Address_Set', set);
    const held = isOurs(world, id, owner) ? world.rows.column(id, 'addresses') : undefined;
    return held instanceof Set ? [[set, [...held].map(String).toSorted()]] : [];
  });
}

/** The reason why a valid pool waits: its Subnet is invalid and has no network, so nothing is allocated. */
function waitsFor(world: World, { name, spec }: PoolView): string | undefined {
  const acceptance = world.ask(subnetAcceptance, spec.subnet);
  if (acceptance.kind !== 'invalid') return undefined;
  return withNext(
    `IPPool ${name}: spec.subnet "${spec.subnet}" gives no address: ${acceptance.message}`,
    commandText`kubectl describe subnet ${spec.subnet}`,
  );
}

/**
 * @param conflict why it cannot have its address set; its addresses are allocated anyway
 * @param waits why its Subnet allocates nothing
 */
function conditionsOf(
  name: string,
  finding: Pick<Finding, 'message'> | undefined,
  conflict: string | undefined,
  waits: string | undefined,
): ConditionOutput[] {
  if (finding === undefined && waits !== undefined)
    return [{ type: 'Ready', status: 'False', reason: 'WaitingForSubnet', message: waits, event: 'Warning' }];
  if (finding === undefined && conflict !== undefined)
    return [{ type: 'Ready', status: 'False', reason: 'RowConflict', message: conflict }];
  if (finding === undefined) return [{ type: 'Ready', status: 'True', reason: 'UpdateIPAMSucceeded', message: '' }];
  const message = withNext(finding.message, commandText`kubectl edit ippool ${name}`);
  return [
    { type: 'Ready', status: 'False', reason: 'UpdateIPAMFailed', message },
    { type: 'Error', status: 'True', reason: 'UpdateIPAMFailed', message, event: 'Warning' },
  ];
}

function familyStatus(family: 'v4' | 'v6', usage: FamilyUsage): Readonly<Record<string, Json>> {
  return {
    [`${family}AvailableIPs`]: usage.available,
    [`${family}AvailableIPRange`]: usage.availableRange,
    [`${family}UsingIPs`]: usage.using,
    [`${family}UsingIPRange`]: usage.usingRange,
  };
}
