/** What a NAT rule translates: the addresses of an IP object or a Vip, or those in its spec; and the Vpc whose router does it. */
import type { Finding, Subject } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { isLateForVip } from '../../kinds/vip/dependencies/vip-of-rule.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import { cidrOf, cidrsOverlap, formatCidr, parseCidr } from '../../net/cidr.ts';
import { commandText } from '../../text/command-text.ts';
import type { NatRule } from '../../world/nat-rules.ts';
import { traitsOf } from '../../world/resources.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Addresses } from '../ip/ip-object.ts';
import { addressesOfIp } from '../ip/ip-object.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vipView } from '../vip-eip/vip-view.ts';
import { vpcReleased } from '../vpc/vpc-state.ts';
import { routerId, vpcView } from '../vpc/vpc-view.ts';
import type { Problem } from './external-problem.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';

export interface NatTarget {
  readonly vpc: string;
  /** Addresses, or networks of an OvnSnatRule; empty for none. */
  readonly v4: string;
  readonly v6: string;
  /** An address or network of the spec is in no Subnet of the Vpc. */
  readonly outside?: Finding;
  /** Why the rule goes on although its Vpc is gone. */
  readonly missing?: Problem;
  /** MAC of the port; empty where no port of a pod or node has the address. */
  readonly mac: string;
}

/** The addresses of an IP object; undefined for a missing one. */
const ipAddresses: Query<Addresses | undefined> = defineQuery('nat-ip-addresses', (world, name) => {
  const ip = world.ips.get(name);
  return ip === undefined ? undefined : addressesOfIp(ip);
});

type Named = Pick<Addresses, 'subnet' | 'v4' | 'v6' | 'mac'>;

export function targetOf(world: World, resource: OvnNatRule, rule: NatRule): NatTarget | Problem {
  const { name } = rule.metadata;
  const { kind } = traitsOf(resource);
  const { spec, status } = rule;
  const isSnat = resource === 'ovn-snat-rules';
  const problem = (reason: Problem['reason'], field: string, value: string, text: string, advice: string): Problem => {
    const { message } = findingOf({ kind, name }, { code: reason, field, value, problem: text, rule: advice });
    return { reason, message, ...(value === '' && { incomplete: true as const }) };
  };
  const [v4Field, v6Field] = isSnat ? (['v4IpCidr', 'v6IpCidr'] as const) : (['v4Ip', 'v6Ip'] as const);
  const requested = { v4: spec[v4Field] ?? '', v6: spec[v6Field] ?? '' };
  for (const [field, text, family] of [[v4Field, requested.v4, 4] as const, [v6Field, requested.v6, 6] as const]) {
    if (text === '' || inner(text, isSnat)?.family === family) continue;
    const advice = isSnat ? `it is one IPv${family} address or network` : `it is one IPv${family} address`;
    return problem('NatRuleInvalid', `spec.${field}`, text, `is no IPv${family} address${isSnat ? ' or network' : ''}`, advice);
  }
  const isExplicit = requested.v4 !== '' || requested.v6 !== '';
  const vpcSubnet = isSnat ? (spec.vpcSubnet ?? '') : '';
  const ipName = spec.ipName ?? '';
  const isVip = !isSnat && spec.ipType === 'vip';
  if (isVip && isLateForVip(world, rule))
    return problem(
      'VipTerminating',
      'spec.ipName',
      ipName,
      'is a Vip that is being deleted',
      commandText`such a Vip accepts no new ${kind}; kubectl describe vip ${ipName}`,
    );
  const [namedField, namedValue] = vpcSubnet !== '' ? ['spec.vpcSubnet', vpcSubnet] : ['spec.ipName', ipName];
  const named: Named | undefined =
    vpcSubnet !== '' ? networkOf(world, vpcSubnet) : ipName === '' ? undefined : addressesNamed(world, isVip, ipName);
  if (named === undefined && namedValue !== '' && !isExplicit) {
    const what = vpcSubnet !== '' ? 'Subnet' : isVip ? 'Vip' : 'IP';
    const next =
      vpcSubnet !== ''
        ? commandText`kubectl get subnet ${vpcSubnet}`
        : isVip
          ? commandText`kubectl get vip ${ipName}`
          : commandText`kubectl get ip ${ipName}`;
    return problem('NatTargetMissing', namedField, namedValue, `names no ${what} that exists and has an address`, next);
  }
  if (named === undefined && !isExplicit) {
    const fields = isSnat ? 'spec.v4IpCidr, spec.v6IpCidr, spec.vpcSubnet or spec.ipName' : 'spec.ipName, spec.v4Ip or spec.v6Ip';
    return problem(
      'NatRuleInvalid',
      'spec.ipName',
      '',
      'is empty, and so are the other fields for the address',
      `an ${kind} names what it translates in ${fields}`,
    );
  }
  const namedVpc = named === undefined ? '' : (world.ask(subnetView, named.subnet)?.vpc ?? '');
  const vpc = (spec.vpc ?? '') !== '' ? (spec.vpc ?? '') : namedVpc;
  if (vpc === '')
    return named === undefined
      ? problem('NatVpcInvalid', 'spec.vpc', '', 'is empty', 'an address in the spec belongs to a Vpc, whose router translates it')
      : problem(
          'NatTargetMissing',
          namedField,
          namedValue,
          `is in Subnet ${named.subnet}, which does not exist`,
          commandText`kubectl get subnet ${named.subnet}`,
        );
  if (namedVpc !== '' && namedVpc !== vpc)
    return problem(
      'NatVpcInvalid',
      'spec.vpc',
      vpc,
      `is not the Vpc of ${namedField} "${namedValue}", which is ${namedVpc}`,
      'leave it empty, or correct one of them',
    );
  const view = world.ask(vpcView, vpc);
  const vpcProblem = (code: Problem['reason'], text: string, advice: string): Problem =>
    (spec.vpc ?? '') === ''
      ? problem(code, namedField, namedValue, `is in Subnet ${named?.subnet ?? ''} of Vpc ${vpc}, which ${text}`, advice)
      : problem(code, 'spec.vpc', vpc, text, advice);
  if (view === undefined && !(status?.vpc === vpc && isRouterInPlace(world, vpc)))
    return (spec.vpc ?? '') === ''
      ? vpcProblem('NatVpcInvalid', 'does not exist', commandText`kubectl get vpc ${vpc}`)
      : problem('NatVpcInvalid', 'spec.vpc', vpc, 'names no Vpc that exists', commandText`kubectl get vpc ${vpc}`);
  const missing =
    view === undefined
      ? vpcProblem(
          'NatVpcInvalid',
          'does not exist any more',
          commandText`the ${kind} stays in effect while the router is there: create the Vpc again, or delete the ${kind}; kubectl get vpc ${vpc}`,
        )
      : undefined;
  // A rule in effect blocks the deletion of its Vpc; a new one does not, and waits.
  if (view?.terminating === true && (status?.vpc !== vpc || world.ask(vpcReleased, vpc)))
    return vpcProblem('VpcTerminating', 'is being deleted', commandText`such a Vpc accepts no new ${kind}; kubectl describe vpc ${vpc}`);
  if (isExplicit) {
    const texts = { v4: canonical(requested.v4, isSnat), v6: canonical(requested.v6, isSnat) };
    const outside = outsideOf(world, { kind, name }, vpc, { [v4Field]: texts.v4, [v6Field]: texts.v6 });
    return {
      vpc,
      ...texts,
      mac: macOf(named, requested),
      ...(outside !== undefined && { outside }),
      ...(missing !== undefined && { missing }),
    };
  }
  return { vpc, v4: named?.v4 ?? '', v6: named?.v6 ?? '', mac: named?.mac ?? '', ...(missing !== undefined && { missing }) };
}

/** Whether the router of a Vpc that was removed by force is still there. */
function isRouterInPlace(world: World, vpc: string): boolean {
  const ownership = world.rows.state(routerId(vpc))?.ownership;
  return ownership?.kind === 'ours' && ownership.owner === `vpc//${vpc}`;
}

/** The networks of the Subnets of a Vpc. */
const vpcNetworks: Query<readonly string[]> = defineQuery('nat-vpc-networks', (world, vpc) =>
  [...world.subnetVpcs.in(vpc)].toSorted().flatMap((subnet) => {
    const view = world.ask(subnetView, subnet);
    return [view?.v4?.cidr, view?.v6?.cidr].filter((cidr) => cidr !== undefined);
  }),
);

/** The first of the fields with an address or network that no Subnet of the Vpc has. It may be behind a static route, so the rule is in effect. */
function outsideOf(world: World, subject: Subject, vpc: string, fields: Readonly<Record<string, string>>): Finding | undefined {
  const networks = world.ask(vpcNetworks, vpc).flatMap((text) => parseCidr(text) ?? []);
  for (const [field, value] of Object.entries(fields)) {
    const address = parseAddress(value);
    const cidr = address === undefined ? parseCidr(value) : cidrOf(address, address.family === 4 ? 32 : 128);
    if (cidr === undefined || networks.some((network) => cidrsOverlap(network, cidr))) continue;
    const rule = commandText`it reaches what a static route of the Vpc leads to, if anything; kubectl get subnets`;
    return findingOf(subject, { code: 'NatTargetOutside', field: `spec.${field}`, value, problem: `is in no Subnet of Vpc ${vpc}`, rule });
  }
  return undefined;
}

/** The MAC of the named port, if it has the addresses of the spec. */
function macOf(named: Named | undefined, { v4, v6 }: { readonly v4: string; readonly v6: string }): string {
  return named !== undefined && (v4 === '' || v4 === named.v4) && (v6 === '' || v6 === named.v6) ? named.mac : '';
}

function addressesNamed(world: World, isVip: boolean, name: string): Named | undefined {
  if (!isVip) return world.ask(ipAddresses, name);
  const vip = world.ask(vipView, name);
  return vip?.addresses === undefined ? undefined : { subnet: vip.subnet, v4: vip.addresses.v4, v6: vip.addresses.v6, mac: '' };
}

/** The networks of a Subnet. */
function networkOf(world: World, subnet: string): Named | undefined {
  const view = world.ask(subnetView, subnet);
  if (view === undefined || (view.v4 === undefined && view.v6 === undefined)) return undefined;
  return { subnet, v4: view.v4?.cidr ?? '', v6: view.v6?.cidr ?? '', mac: '' };
}

function inner(text: string, mayBeNetwork: boolean): { readonly family: 4 | 6; readonly text: string } | undefined {
  const address = parseAddress(text);
  if (address !== undefined) return { family: address.family, text: formatAddress(address) };
  const cidr = mayBeNetwork ? parseCidr(text) : undefined;
  return cidr === undefined ? undefined : { family: cidr.family, text: formatCidr(cidr) };
}

function canonical(text: string, mayBeNetwork: boolean): string {
  return text === '' ? '' : (inner(text, mayBeNetwork)?.text ?? '');
}
