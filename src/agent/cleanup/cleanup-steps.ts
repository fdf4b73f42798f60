/** What has to be done so that nothing of the agent is left on a node. Pure. */
import type { Operation } from '../../ovsdb/operation.ts';
import { mapSet, mutateDelete } from '../../ovsdb/operation.ts';
import type { Replica } from '../../ovsdb/replica.ts';
import type { Row } from '../../ovsdb/value.ts';
import type { InstalledFile } from '../install/cni-files.ts';
import { namespaceCommands } from '../kernel/namespace-target.ts';
import { type RoutingLine, routingLines } from '../kernel/routing-commands.ts';
import { chainLines, type FilterChain, type ListedRule } from '../packet-filter/other-firewalls.ts';
import { INTEGRATION_BRIDGE } from '../rules/node-settings.ts';
import { externalIdsOf, isOurs, removalOperations } from '../vswitch/port-diff.ts';
import { MIRROR, mirrorRemoval } from '../vswitch/mirror-diff.ts';
import { qosRemoval } from '../vswitch/port-qos-diff.ts';
import { restored } from '../vswitch/settings-before.ts';
import { portKey } from '../world/port-keys.ts';
import { integrationBridge, portsOfController } from './switch-remains.ts';

/** What is on the node. */
export interface Remains {
  /** The Open_vSwitch database, with its indexes; undefined if it does not answer. */
  readonly replica: Replica | undefined;
  /** Devices with our alias. */
  readonly links: readonly string[];
  /** The network namespace of the node as an external gateway, if the agent made it. */
  readonly gatewayNamespace: string | undefined;
  /** Our tables of nftables. */
  readonly tables: readonly string[];
  readonly chains: ReadonlyMap<FilterChain, readonly ListedRule[]>;
  readonly routing: readonly RoutingLine[];
  /** Files of the CNI plugin, in their order. */
  readonly files: readonly InstalledFile[];
}

export interface CleanupStep {
  /** What it removes, for people. */
  readonly what: string;
  readonly action:
    | { readonly kind: 'transaction'; readonly operations: readonly Operation[] }
    | { readonly kind: 'command'; readonly command: readonly [string, ...string[]]; readonly input?: string }
    | { readonly kind: 'file'; readonly file: InstalledFile };
}

/** In their order: first the files, so that no runtime starts another pod; ports before their devices. */
export function cleanupSteps({ replica, links, gatewayNamespace, tables, chains, routing, files }: Remains): readonly CleanupStep[] {
  const command = (what: string, one: readonly [string, ...string[]], input?: string): CleanupStep => ({
    what,
    action: { kind: 'command', command: one, ...(input === undefined ? {} : { input }) },
  });
  return [
    ...files.map((file): CleanupStep => ({ what: fileText(file), action: { kind: 'file', file } })),
    ...(replica === undefined ? [] : vswitchSteps(replica)),
    ...links.map((link) => command(`device ${link}`, ['ip', 'link', 'delete', 'dev', link])),
    ...(gatewayNamespace === undefined
      ? []
      : namespaceCommands(gatewayNamespace, 'remove').map((one) => command(`network namespace ${gatewayNamespace}`, one.command))),
    ...tables.map((table) => command(`table ${table} of nftables`, ['nft', 'delete', 'table', ...table.split(' ')])),
    ...Array.from(chains).flatMap(([chain, rules]) => {
      const lines = chainLines(chain, undefined, rules);
      return lines.length === 0
        ? []
        : [command(`${rules.length} rules in chain ${chain.chain} of table ${chain.table}`, ['nft', '-f', '-'], `${lines.join('\n')}\n`)];
    }),
    ...([4, 6] as const).flatMap((family) =>
      routingLines(family, [], routing).map((line) =>
        command(line.replace(' delete', ''), ['ip', `-${family}`, ...line.split(' ')] as never),
      ),
    ),
  ];
}

function fileText({ path, before, isForeign }: InstalledFile): string {
  if (before === undefined) return `file ${path}`;
  return isForeign === true ? `file ${before}` : `file ${path}: what another program had there comes back`;
}

function vswitchSteps(replica: Replica): readonly CleanupStep[] {
  const transaction = (what: string, operations: readonly Operation[]): readonly CleanupStep[] =>
    operations.length === 0 ? [] : [{ what, action: { kind: 'transaction', operations } }];
  // Those of the node in bridges of ProviderNetworks are given back before. While one is left, the node is reached through it.
  const ours = Array.from(replica.table('Interface').values()).filter(
    (row) => isOurs(row) && !externalIdsOf(row).has(portKey.providerNetwork),
  );
  const [settings] = replica.table('Open_vSwitch').values();
  const keys = settings && restored(externalIdsOf(settings));
  const fate = integrationBridge(replica);
  return [
    ...ours.flatMap((row) => {
      const name = String(row['name']);
      return transaction(`port ${name}${podText(row)}`, [...removalOperations(replica, name), ...qosRemoval(replica, name)]);
    }),
    ...transaction(`mirror ${MIRROR}`, mirrorRemoval(replica)),
    ...(settings === undefined || keys === undefined || keys.unset.length === 0
      ? []
      : transaction(`keys of Open_vSwitch: ${[...Object.keys(keys.set), ...keys.unset].join(', ')}`, [
          mutateDelete('Open_vSwitch', settings._uuid, 'external_ids', keys.unset),
          ...(Object.keys(keys.set).length === 0 ? [] : [mapSet('Open_vSwitch', settings._uuid, 'external_ids', keys.set)]),
        ])),
    ...portsOfController(replica, fate).flatMap(({ bridge, port }) =>
      transaction(`port ${String(port['name'])} of ovn-controller in bridge ${String(bridge['name'])}`, [
        mutateDelete('Bridge', bridge._uuid, 'ports', [port._uuid]),
      ]),
    ),
    ...(fate.kind !== 'goes' || settings === undefined
      ? []
      : transaction(`bridge ${INTEGRATION_BRIDGE}`, [mutateDelete('Open_vSwitch', settings._uuid, 'bridges', [fate.row._uuid])])),
  ];
}

function podText(row: Row): string {
  const ids = externalIdsOf(row);
  const name = ids.get(portKey.podName);
  return name === undefined ? '' : ` of pod ${ids.get(portKey.podNamespace)}/${name}`;
}
