/**
 * Subnets of external Vpcs: each shows a switch of another program that has a port in an external Vpc's router. Its networks are those of the
 * router port. Kiln makes no row for the switch, and allocates from it for namespaces that an administrator admits alone.
 */
import { isObjectName } from '../../../api/values/object-name.ts';
import { EXTERNAL_PROVIDER, labelKey } from '../../../api/well-known.ts';
import type { AddressText } from '../../../net/address.ts';
import { formatAddress } from '../../../net/address.ts';
import type { CidrText } from '../../../net/cidr.ts';
import { formatCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { identityOf, rowId } from '../../../nb/row-id.ts';
import type { Uuid } from '../../../nb/tables.ts';
import type { SubnetIntent } from '../../../world/intent.ts';
import { vpcIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { isExternal } from '../../vpc/vpc-view.ts';

export interface ExternalNetwork {
  /** The router of another program that the switch has a port in: the first by name. */
  readonly router: string;
  readonly cidrs: readonly CidrText[];
  readonly gateways: readonly AddressText[];
}

/** Whether it shows a switch of another program. Either mark tells it: an edit of one is undone by the other. */
export function isExternalSubnet({ metadata, spec }: Pick<SubnetIntent, 'metadata' | 'spec'>): boolean {
  return metadata.labels?.[labelKey.vpcExternal] === 'true' || spec.provider === EXTERNAL_PROVIDER;
}

/** The network of a foreign switch as a router of an external Vpc has it; undefined without one that can be shown as a Subnet. */
export const externalNetwork: Query<ExternalNetwork | undefined> = defineQuery('external-network', (world, name) => {
  const { defaultSubnet, joinSubnet, enableExternalVpc } = world.settings;
  if (!enableExternalVpc || !isObjectName(name) || name === defaultSubnet || name === joinSubnet) return undefined;
  if (!isForeign(world, rowId('Logical_Switch', name))) return undefined;
  const ports = world.rows.column(rowId('Logical_Switch', name), 'ports');
  const networks = [...(ports instanceof Set ? (ports as ReadonlySet<Uuid>) : [])].flatMap((port) => networkBehind(world, port) ?? []);
  return networks.toSorted((a, b) => (a.router < b.router ? -1 : 1))[0];
});

/** What a port of type router of the switch leads to. */
function networkBehind(world: World, port: Uuid): ExternalNetwork | undefined {
  const { rows } = world;
  const row = rows.byUuid(port);
  const options = row === undefined ? undefined : rows.column(row.id, 'options');
  const name: unknown = options instanceof Map ? options.get('router-port') : undefined;
  if (row?.id === undefined || rows.column(row.id, 'type') !== 'router' || typeof name !== 'string') return undefined;
  const end = rowId('Logical_Router_Port', name);
  const home = rows.state(end)?.parent;
  const router = home === undefined ? undefined : rows.byUuid(home.uuid);
  if (router === undefined || !isForeign(world, router.id) || !isShownRouter(world, identityOf(router.id))) return undefined;
  const held = rows.column(end, 'networks');
  const texts = held instanceof Set ? Array.from(held, String) : typeof held === 'string' ? [held] : [];
  const cidrs: CidrText[] = [];
  const gateways: AddressText[] = [];
  for (const family of [4, 6] as const) {
    const found = texts.toSorted().flatMap((text) => parseInterfaceAddress(text) ?? []);
    const first = found.find(({ cidr, address }) => cidr.family === family && !isLinkLocal(formatAddress(address)));
    if (first === undefined) continue;
    cidrs.push(formatCidr(first.cidr));
    gateways.push(formatAddress(first.address));
  }
  return cidrs.length === 0 ? undefined : { router: identityOf(router.id), cidrs, gateways };
}

function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address);
}

function isForeign(world: World, id: RowId): boolean {
  return world.rows.state(id)?.ownership.kind === 'foreign';
}

/** Not one of the default Vpc's name, or of a Vpc that a user made. */
function isShownRouter(world: World, name: string): boolean {
  if (!isObjectName(name) || name === world.settings.defaultVpc) return false;
  const vpc = world.ask(vpcIntent, name);
  return vpc === undefined || isExternal(vpc);
}
