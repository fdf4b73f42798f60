/**
 * External Vpcs: with the setting `enableExternalVpc`, each router of another program is shown as a Vpc with the router's name and
 * Kube-OVN's label, which Kiln does not change and which goes with the router, not with a moment's absence of it (`cause-gone.ts`; its switches:
 * `subnet/external-subnets.ts`). Source: Kube-OVN's flag `enable-external-vpc`, off by default.
 */
import { API_VERSION } from '../../api/schema/kind.ts';
import { isObjectName } from '../../api/values/object-name.ts';
import { isTerminating } from '../../api/kubernetes/meta.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { labelKey } from '../../api/well-known.ts';
import type { VpcSpec } from '../../api/kinds/vpc.ts';
import { identityOf } from '../../nb/row-id.ts';
import type { Uuid } from '../../nb/tables.ts';
import { keysOf, prefixed } from '../../engine/domain.ts';
import { vpcIntent } from '../../world/intent.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { causeGone, causeThere, fieldsSet } from '../cause-gone.ts';
import type { Rule } from '../rule.ts';
import type { Output } from '../output.ts';
import { isExternal, routerId } from './vpc-view.ts';

const ROUTER = 'router ';
const VPC = 'vpc ';

export const externalVpcs: Rule = {
  name: 'external-vpcs',
  over: (world) =>
    prefixed(world.settings.enableExternalVpc ? { [ROUTER]: world.rows.foreignRouters, [VPC]: keysOf(world.vpcs, isExternal) } : {}),
  run: (world, key): readonly Output[] =>
    key.startsWith(ROUTER) ? shown(world, key.slice(ROUTER.length)) : kept(world, key.slice(VPC.length)),
};

/** A Vpc of that name that users made stays as it is: its router is in conflict with the other one, which is reported on it. */
function shown(world: World, name: string): readonly Output[] {
  if (!isObjectName(name) || name === world.settings.defaultVpc || world.ask(vpcIntent, name) !== undefined) return [];
  const object = { apiVersion: API_VERSION, kind: 'Vpc', metadata: { name, labels: { [labelKey.vpcExternal]: 'true' } }, spec: {} };
  return [{ kind: 'create', resource: 'vpcs', key: name, object }];
}

function kept(world: World, name: string): readonly Output[] {
  const vpc = world.ask(vpcIntent, name);
  if (vpc === undefined || isTerminating(vpc)) return [];
  const made = { resource: 'vpcs', metadata: vpc.metadata } as const;
  if (world.rows.state(routerId(name)) !== undefined) return [causeThere(made)];
  return [causeGone(world, made, { text: `router ${name} of another program` }, fieldsSet(vpc.spec, []))];
}

/** Names of the switches at an external router, sorted: those of other programs and of Subnets in it. */
export const externalSwitches: Query<readonly string[]> = defineQuery('external-switches', (world, name) => {
  const { rows } = world;
  const ports = rows.column(routerId(name), 'ports');
  const names = new Set<string>();
  for (const uuid of ports instanceof Set ? (ports as ReadonlySet<Uuid>) : []) {
    const routerPort = rows.byUuid(uuid);
    if (routerPort === undefined) continue;
    for (const port of rows.foreignRouters.portsTo(identityOf(routerPort.id))) {
      const parent = rows.byUuid(port)?.parent;
      const home = parent === undefined ? undefined : rows.byUuid(parent.uuid);
      if (home !== undefined) names.add(identityOf(home.id));
    }
  }
  return [...names].toSorted();
});

/** What a spec asks of a router that its owner alone changes. */
export function externalFindings(name: string, spec: VpcSpec): readonly Finding[] {
  const asked: readonly (readonly [field: string, value: string])[] = [
    ...(spec.enableExternal === true ? [['spec.enableExternal', 'true'] as const] : []),
    ...(spec.enableBfd === true ? [['spec.enableBfd', 'true'] as const] : []),
    ...(['staticRoutes', 'policyRoutes', 'vpcPeerings', 'extraExternalSubnets'] as const).flatMap((field) => {
      const count = spec[field]?.length ?? 0;
      return count === 0 ? [] : [[`spec.${field}`, `${count} items`] as const];
    }),
  ];
  const rule = `router ${name} is another program's, and its owner decides about its routes and ports; ask for it there`;
  return asked.map(([field, value]) =>
    findingOf({ kind: 'Vpc', name }, { code: 'ExternalVpc', field, value, problem: 'has no effect in an external Vpc', rule }),
  );
}
