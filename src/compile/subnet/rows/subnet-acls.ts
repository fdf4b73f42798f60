/**
 * ACLs on a Subnet's switch: those that isolate a private Subnet, and those of its spec.
 *
 * Private: OVN drops all traffic except within the Subnet, to and from allowSubnets, and from the nodes.
 */
import { wrongFields } from '../../../api/validation/finding.ts';
import type { SubnetSpec } from '../../../api/kinds/subnet.ts';
import type { Family } from '../../../net/address.ts';
import { formatCidr, parseCidr } from '../../../net/cidr.ts';
import { familiesOf, ofFamily } from '../../../net/dual.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { aclId } from '../../../nb/tables.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { World } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import type { ColumnValue, RowOutput } from '../../output.ts';
import { subnetFindings } from '../validity/subnet-findings.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetOwner, subnetSpec, subnetView, switchId } from '../validity/subnet-view.ts';

const RULE = 'subnet-acls';
const NODE_ALLOW = 3000;
const EAST_WEST_ALLOW = 1900;
const PRIVATE_ALLOW = 1001;
const PRIVATE_DROP = 1000;
/** The tier of NetworkPolicies, Subnets and nodes in Kube-OVN; older schemas have no tiers. */
const TIER = 2;

interface Acl {
  readonly direction: string;
  readonly priority: number;
  readonly match: string;
  readonly action: string;
  readonly more?: Readonly<Record<string, ColumnValue>>;
}

export const subnetAcls: Rule = {
  name: RULE,
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    return view === undefined ? [] : aclRows(world, view);
  },
};

export function aclRows(world: World, view: SubnetView): readonly RowOutput[] {
  const { name } = view;
  const spec = world.ask(subnetSpec, name);
  if (spec === undefined || !view.isOvn) return [];
  const owner = subnetOwner(view);
  const rows = new Map<RowId, RowOutput>();
  const add = (acl: Acl, externalIds: Readonly<Record<string, string>>): void => {
    const { direction, priority, match, action, more } = acl;
    const id = aclId(name, direction, priority, match);
    if (rows.has(id)) return;
    rows.set(id, {
      kind: 'row',
      id,
      owner,
      rule: RULE,
      parent: { id: switchId(name), column: 'acls' },
      columns: { direction, priority, match, action, tier: TIER, ...more },
      externalIds,
    });
  };
  if (view.private) for (const acl of isolation(world, view, spec)) add(acl, { parent: name });
  for (const acl of custom(world, view, spec)) add(acl, { parent: name, subnet: name });
  return [...rows.values()];
}

function isolation(world: World, view: SubnetView, spec: SubnetSpec): Acl[] {
  const join = world.ask(subnetView, world.settings.joinSubnet);
  const allow = (priority: number, match: string): Acl => ({ direction: 'to-lport', priority, match, action: 'allow-related' });
  const acls: Acl[] = [
    {
      direction: 'to-lport',
      priority: PRIVATE_DROP,
      match: 'ip',
      action: 'drop',
      more: { name: view.name, log: true, severity: 'warning' },
    },
  ];
  for (const family of familiesOf(view)) {
    const own = ofFamily(view, family)?.cidr ?? '';
    const ip = prefixOf(family);
    const nodes = join === undefined ? undefined : ofFamily(join, family)?.cidr;
    if (nodes !== undefined) acls.push(allow(NODE_ALLOW, `${ip}.src == ${nodes}`));
    acls.push(allow(PRIVATE_ALLOW, `${ip}.src == ${own} && ${ip}.dst == ${own}`));
    for (const text of spec.allowSubnets ?? []) {
      const other = parseCidr(text);
      if (other?.family !== family) continue;
      const there = formatCidr(other);
      acls.push(allow(PRIVATE_ALLOW, `(${ip}.src == ${own} && ${ip}.dst == ${there}) || (${ip}.src == ${there} && ${ip}.dst == ${own})`));
    }
  }
  return acls;
}

/** The ACLs of the spec without invalid ones, which the Subnet's condition reports. */
function custom(world: World, view: SubnetView, spec: SubnetSpec): Acl[] {
  const requested = spec.acls ?? [];
  if (requested.length === 0) return [];
  const wrong = wrongFields(world.ask(subnetFindings, view.name));
  const acls = requested.flatMap(({ direction = '', priority = 0, match = '', action = '' }, i): Acl[] =>
    wrong.has(`spec.acls[${i}]`) ? [] : [{ direction, priority, match: match.trim(), action }],
  );
  if (spec.allowEWTraffic !== true) return acls;
  for (const family of familiesOf(view)) {
    const own = ofFamily(view, family)?.cidr ?? '';
    const match = `${prefixOf(family)}.src == ${own} && ${prefixOf(family)}.dst == ${own}`;
    for (const direction of ['to-lport', 'from-lport']) acls.push({ direction, priority: EAST_WEST_ALLOW, match, action: 'allow' });
  }
  return acls;
}

/** The protocol's name in OVN's expressions. */
export function prefixOf(family: Family): 'ip4' | 'ip6' {
  return family === 4 ? 'ip4' : 'ip6';
}
