/** Rules for a Vpc. */

import { addressProblem, parseAddress } from '../../net/address.ts';
import { canonicalCidr, cidrProblem, parseCidr } from '../../net/cidr.ts';
import { parseDualAddress, splitList } from '../../net/dual.ts';
import { databaseTextProblem } from '../values/database-text.ts';
import { Findings, findingOf } from './finding.ts';
import type { Finding } from './finding.ts';
import { matchBreach } from '../values/match-text.ts';
import { selectorProblem } from '../kubernetes/label-selector.ts';
import type { PolicyRoute, StaticRoute, VpcPeering, VpcSpec } from '../kinds/vpc.ts';

/** Range of `priority` in OVN's Logical_Router_Policy table. */
const POLICY_PRIORITY_MAXIMUM = 32_767;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The name and spec of a Vpc. */
export interface NamedVpc {
  readonly name: string;
  readonly spec: VpcSpec;
}

/** The rules that the Vpc's spec breaks; empty if it is valid. What `vpcDefaults` corrects breaks no rule. */
export const vpcFindings = ({ name, spec }: NamedVpc): readonly Finding[] => {
  const findings = new Findings({ kind: 'Vpc', name });
  staticRoutes(findings, spec.staticRoutes ?? []);
  policyRoutes(findings, spec.policyRoutes ?? []);
  peerings(findings, name, spec.vpcPeerings ?? []);
  const { enabled = false, ip = '', nodeSelector = {} } = spec.bfdPort ?? {};
  if (enabled || ip !== '') {
    const result = parseDualAddress(ip);
    if (!result.ok)
      findings.add({
        code: 'VpcBfdPortInvalid',
        field: 'spec.bfdPort.ip',
        value: ip,
        problem: result.problem,
        rule: 'the BFD port has one address, or one of each family with a comma',
      });
  }
  const problem = selectorProblem(nodeSelector);
  if (problem !== undefined)
    findings.add({
      code: 'VpcBfdPortInvalid',
      field: 'spec.bfdPort.nodeSelector',
      value: JSON.stringify(nodeSelector),
      problem,
      rule: 'operators are In and NotIn, with values, and Exists and DoesNotExist, without',
    });
  return findings.list;
};

/** The Vpc has the name of a Subnet. */
export const vpcNamedAsSubnet = (name: string): Finding =>
  findingOf(
    { kind: 'Vpc', name },
    {
      code: 'VpcNamedAsSubnet',
      field: 'metadata.name',
      value: name,
      problem: 'is also the name of a Subnet',
      rule: 'a Vpc and a Subnet need different names, because ports between them are named after both',
    },
  );

/** The destination or source of a route in canonical spelling, and its family. */
const prefixOf = (text: string): { readonly text: string; readonly family: 4 | 6 } | undefined => {
  const cidr = parseCidr(text.includes('/') || parseAddress(text) === undefined ? text : hostCidr(text));
  return cidr && { text: canonicalCidr(text.includes('/') ? text : hostCidr(text)) ?? text, family: cidr.family };
};

const hostCidr = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`;

const staticRoutes = (findings: Findings, routes: readonly StaticRoute[]): void => {
  const seen = new Map<string, number>();
  for (const [index, route] of routes.entries()) {
    const { policy = '', cidr = '', nextHopIP = '', bfdId = '', routeTable = '' } = route;
    const breach = (field: string, value: string, problem: string, rule: string): void =>
      findings.add({ code: 'VpcStaticRouteInvalid', field: `spec.staticRoutes[${index}].${field}`, value, problem, rule });
    if (!['', 'policySrc', 'policyDst'].includes(policy)) breach('policy', policy, 'is not known', 'it is policySrc, policyDst or empty');
    const prefix = prefixOf(cidr);
    if (prefix === undefined)
      breach(
        'cidr',
        cidr,
        `${cidr.includes('/') ? cidrProblem(cidr) : addressProblem(cidr)}`,
        'a route needs the network or the address that it is for',
      );
    const nextHop = parseAddress(nextHopIP);
    if (nextHop === undefined) breach('nextHopIP', nextHopIP, `${addressProblem(nextHopIP)}`, 'a route needs one address to send to');
    else if (prefix !== undefined && nextHop.family !== prefix.family)
      breach('nextHopIP', nextHopIP, `is not of the family of ${cidr}`, 'OVN sends to a next hop of the same family');
    if (bfdId !== '' && !UUID.test(bfdId)) breach('bfdId', bfdId, 'is no UUID', 'it names a row of the BFD table');
    const table = databaseTextProblem(routeTable);
    if (table !== undefined) breach('routeTable', table.shown, table.problem, table.rule);
    const key = [routeTable, policy || 'policyDst', prefix?.text ?? cidr, nextHopIP].join(' ');
    const first = seen.get(key);
    if (first !== undefined) breach('cidr', cidr, `repeats spec.staticRoutes[${first}]`, 'give each route once');
    else seen.set(key, index);
  }
};

const policyRoutes = (findings: Findings, routes: readonly PolicyRoute[]): void => {
  const seen = new Map<string, number>();
  for (const [index, { action = '', match = '', nextHopIP = '', priority = 0 }] of routes.entries()) {
    const breach = (field: string, value: string, problem: string, rule: string): void =>
      findings.add({ code: 'VpcPolicyRouteInvalid', field: `spec.policyRoutes[${index}].${field}`, value, problem, rule });
    if (!['allow', 'drop', 'reroute'].includes(action)) breach('action', action, 'is not known', 'it is allow, drop or reroute');
    const unfit = databaseTextProblem(match);
    const wrong = unfit ?? matchBreach(match);
    if (match.trim() === '') breach('match', match, 'matches nothing', 'write a match expression of OVN, such as ip4.src == 10.0.0.0/8');
    else if (wrong !== undefined) breach('match', unfit?.shown ?? match, wrong.problem, wrong.rule);
    if (priority < 0 || priority > POLICY_PRIORITY_MAXIMUM)
      breach('priority', String(priority), 'is not accepted by OVN', `it is from 0 to ${POLICY_PRIORITY_MAXIMUM}`);
    if (action === 'reroute') nextHops(nextHopIP, (problem, rule) => breach('nextHopIP', nextHopIP, problem, rule));
    const key = `${priority} ${match.trim()}`;
    const first = seen.get(key);
    if (first !== undefined)
      breach(
        'match',
        match,
        `repeats the priority and match of spec.policyRoutes[${first}]`,
        'a router has one policy of a priority and match',
      );
    else seen.set(key, index);
  }
};

const nextHops = (value: string, breach: (problem: string, rule: string) => void): void => {
  const rule = 'reroute sends to one address, or to several of one family with commas';
  const items = splitList(value);
  if (items.length === 0) breach('is empty', rule);
  for (const item of items) {
    const problem = addressProblem(item);
    if (problem !== undefined) {
      breach(`holds "${item}", which ${problem}`, rule);
      return;
    }
  }
  if (new Set(items.map((item) => parseAddress(item)?.family)).size > 1) breach('mixes IPv4 and IPv6', rule);
};

const peerings = (findings: Findings, name: string, list: readonly VpcPeering[]): void => {
  const seen = new Map<string, number>();
  for (const [index, { remoteVpc = '', localConnectIP = '' }] of list.entries()) {
    const breach = (field: string, value: string, problem: string, rule: string): void =>
      findings.add({ code: 'VpcPeeringInvalid', field: `spec.vpcPeerings[${index}].${field}`, value, problem, rule });
    if (remoteVpc === '') breach('remoteVpc', remoteVpc, 'is empty', 'a peering names the Vpc on the other side');
    if (remoteVpc === name) breach('remoteVpc', remoteVpc, 'is this Vpc', 'a Vpc is not linked to itself');
    const first = seen.get(remoteVpc);
    if (first !== undefined)
      breach(
        'remoteVpc',
        remoteVpc,
        `repeats spec.vpcPeerings[${first}]`,
        'two Vpcs have one link, with an address of each family if wanted',
      );
    else seen.set(remoteVpc, index);
    connectIp(localConnectIP, (problem) =>
      breach(
        'localConnectIP',
        localConnectIP,
        problem,
        "it is this side's address with a prefix such as 169.254.0.1/30, or one of each family with a comma",
      ),
    );
  }
};

const connectIp = (value: string, breach: (problem: string) => void): void => {
  const families = splitList(value).map((item) => parseCidr(item)?.family);
  if (families.length === 0) breach('is empty');
  else if (families.includes(undefined)) breach('is no address with prefix');
  else if (new Set(families).size < families.length) breach('has two addresses of one family');
};
