/**
 * What a Subnet is refused for, and what somebody waits for, is so: another network in its Vpc, a Vpc that is missing or goes, a Subnet that is not there. A rule that refuses
 * too much says so to everybody, and a fresh process agrees. Read from objects and rows, by no rule.
 */
import { isOvnProvider } from '../../src/api/names.ts';
import type { Condition } from '../../src/api/kubernetes/meta.ts';
import type { Subnet } from '../../src/api/kinds/subnet.ts';
import { DEFAULT_VPC, POD_CONDITION } from '../../src/api/well-known.ts';
import type { Cidr } from '../../src/net/cidr.ts';
import { cidrContains, cidrsOverlap, parseCidr, parseInterfaceAddress } from '../../src/net/cidr.ts';
import { parseAddress } from '../../src/net/address.ts';
import { splitList } from '../../src/net/dual.ts';
import { addressObjects } from '../../src/invariants/address-holders.ts';
import { conditionsOf } from '../../src/world/conditions.ts';
import { OWNER_KEY, UID_KEY } from '../../src/nb/ownership.ts';
import { rowId } from '../../src/nb/row-id.ts';
import type { Row } from '../../src/ovsdb/index.ts';
import type { World } from '../../src/world/world.ts';
import type { Finding } from './judge.ts';
import { isInPlace, mapOf, rowsIn, textOf } from './reading.ts';

export function refusedInVain(world: World): readonly Finding[] {
  const found: Finding[] = [];
  const say = (kind: string, name: string, refusal: Partial<Condition>, what: string): void =>
    void found.push({
      kind: `I7 refused in vain ${kind} ${refusal.reason ?? ''}`,
      message: `I7: ${kind} ${name} is told "${refusal.message ?? ''}", and ${what}`,
    });
  for (const [name, subnet] of world.subnets.entries()) {
    const refusal = refusalOf(subnet.status?.conditions);
    const what = refusal === undefined ? undefined : contradiction(world, name, subnet, refusal);
    if (refusal !== undefined && what !== undefined) say('Subnet', name, refusal, what);
  }
  const waits = (kind: string, name: string, refusal: Partial<Condition> | undefined): void => {
    const subnet =
      refusal?.reason === 'WaitingForSubnet' ? /Subnet "?([\w.-]+)"? does not exist/.exec(refusal.message ?? '')?.[1] : undefined;
    if (refusal !== undefined && subnet !== undefined && world.subnets.peek(subnet) !== undefined) say(kind, name, refusal, 'it is there');
    const asked =
      refusal?.reason === 'WaitingForSubnet' ? /spec\.(?:subnet|externalSubnet) "([\w.-]+)"/.exec(refusal.message ?? '')?.[1] : undefined;
    const object = asked === undefined ? undefined : world.subnets.peek(asked);
    if (refusal !== undefined && object !== undefined && isInPlace(object)) say(kind, name, refusal, `Subnet ${asked ?? ''} is in place`);
  };
  for (const { kind, name, held, terminating, conditions } of addressObjects(world))
    if (held === undefined && !terminating) waits(kind, name, refusalOf(conditions));
  for (const [name, ip] of world.ips.entries())
    if (ip.metadata.deletionTimestamp === undefined) waits('IP', name, refusalOf(conditionsOf('ips', ip)));
  for (const [key, { metadata, status }] of world.pods.entries()) {
    const bound = status?.conditions?.find(({ type, status: is }) => type === POD_CONDITION && is === 'False');
    if (metadata.deletionTimestamp === undefined) waits('Pod', key, bound);
  }
  return found;
}

function refusalOf(conditions: readonly Partial<Condition>[] | undefined): Partial<Condition> | undefined {
  return conditions?.find(({ type, status }) => type === 'Accepted' && status === 'False');
}

/** What is so, where that is not what it is refused for. */
function contradiction(
  world: World,
  name: string,
  { metadata, spec }: Subnet,
  { reason = '', message = '' }: Partial<Condition>,
): string | undefined {
  // One that is in another Vpc than its spec says now is told in which.
  const vpc = /networks of one Vpc \(([\w.-]+)\)/.exec(message)?.[1] ?? (spec.vpc || DEFAULT_VPC);
  const there = world.vpcs.peek(vpc);
  switch (reason) {
    case 'VpcMissing':
      return there === undefined ? undefined : `Vpc ${vpc} is there`;
    case 'VpcTerminating':
      return there?.metadata.deletionTimestamp === undefined && there !== undefined ? `Vpc ${vpc} is not being deleted` : undefined;
    case 'SubnetNamedAsVpc':
      return world.vpcs.peek(name) === undefined ? 'there is no Vpc of that name' : undefined;
    case 'SubnetCidrOverlap':
      return meets(world, name, vpc, metadata.uid, cidrsOf(spec.cidrBlock))
        ? undefined
        : `no other network of Vpc ${vpc} has addresses of ${spec.cidrBlock ?? ''}`;
    default:
      return undefined;
  }
}

function cidrsOf(text = ''): readonly Cidr[] {
  return splitList(text).flatMap((cidr) => parseCidr(cidr) ?? []);
}

/** Of another Subnet of its Vpc, whatever becomes of that; of a network of a router port that is not its own; or of a node. */
function meets(world: World, name: string, vpc: string, uid: string, own: readonly Cidr[]): boolean {
  const overlaps = (others: readonly Cidr[]): boolean => own.some((one) => others.some((other) => cidrsOverlap(one, other)));
  for (const [other, { spec }] of world.subnets.entries())
    if (other !== name && isOvnProvider(spec.provider ?? '') && overlaps(cidrsOf(spec.cidrBlock))) {
      if ((spec.vpc || DEFAULT_VPC) === vpc) return true;
      // One whose Vpc was edited stays where it was.
      if (portsOf(world, vpc).some((port) => textOf(port['name']).endsWith(`-${other}`))) return true;
    }
  const others = portsOf(world, vpc).filter((port) => mapOf(port['external_ids']).get(UID_KEY) !== uid);
  if (others.some((port) => overlaps(splitList(textOf(port['networks'])).flatMap((text) => parseInterfaceAddress(text)?.cidr ?? []))))
    return true;
  return [...world.nodes.entries()].some(([, { status }]) =>
    (status?.addresses ?? []).some(({ address: text }) => {
      const address = parseAddress(text);
      return address !== undefined && own.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
    }),
  );
}

/** Of Subnets, also where another program has marked the router as its own since: they are in it all the same. */
function portsOf(world: World, vpc: string): readonly Row[] {
  const ports = rowsIn(world, world.rows.best(rowId('Logical_Router', vpc))?.row, 'ports');
  return ports.filter((port) => mapOf(port['external_ids']).get(OWNER_KEY)?.startsWith('subnet//'));
}
