/** The operations for the mirror of a bridge, and for the ports whose packets it copies. Pure. */
import { insertNamed, mutate, mutateDelete, mutateInsert, type Operation, waitForRow } from '../../ovsdb/operation.ts';
import type { Replica } from '../../ovsdb/replica.ts';
import type { Row } from '../../ovsdb/value.ts';
import type { MirrorOutput, PortOutput } from '../world/outputs.ts';
import { portKey, VENDOR } from '../world/port-keys.ts';
import { rowName } from './row-name.ts';

/** Kube-OVN's name. */
export const MIRROR = 'm0';

const NOTHING: readonly Operation[] = [];
const SELECTED = ['select_src_port', 'select_dst_port'] as const;

/** Inserts it once its port is there. The ports that it copies say so themselves. */
export function mirrorOperations(replica: Replica, { name, bridge, port }: MirrorOutput): readonly Operation[] {
  const bridgeRow = replica.index('Bridge', 'name').first(bridge);
  const output = replica.index('Port', 'name').first(port);
  if (bridgeRow === undefined || output === undefined || ourMirror(replica) !== undefined) return NOTHING;
  const row = rowName('mirror', name);
  return [
    waitForRow('Bridge', bridgeRow._uuid),
    waitForRow('Port', output._uuid),
    insertNamed('Mirror', { name, output_port: [output._uuid], external_ids: { [portKey.vendor]: VENDOR } }, row),
    mutateInsert('Bridge', bridgeRow._uuid, 'mirrors', [row]),
  ];
}

/** Takes the mirror out of its bridge; nothing if there is none of ours. */
export function mirrorRemoval(replica: Replica): readonly Operation[] {
  const mirror = ourMirror(replica);
  const ids = mirror?.['external_ids'];
  if (mirror === undefined || !(ids instanceof Map) || ids.get(portKey.vendor) !== VENDOR) return NOTHING;
  return Array.from(replica.table('Bridge').values())
    .filter((bridge) => bridge['mirrors'] instanceof Set && bridge['mirrors'].has(mirror._uuid))
    .map((bridge) => mutateDelete('Bridge', bridge._uuid, 'mirrors', [mirror._uuid]));
}

/** A port is copied, or not, as it should be. */
export function copyOperations(replica: Replica, { name, mirrored }: PortOutput): readonly Operation[] {
  const port = replica.index('Port', 'name').first(name);
  const mirror = ourMirror(replica);
  if (port === undefined || mirror === undefined) return NOTHING;
  const differing = SELECTED.filter((column) => (mirror[column] instanceof Set && mirror[column].has(port._uuid)) !== (mirrored === true));
  if (differing.length === 0) return NOTHING;
  const mutator = mirrored === true ? 'insert' : 'delete';
  return [
    waitForRow('Port', port._uuid),
    mutate(
      'Mirror',
      mirror._uuid,
      differing.map((column) => ({ column, mutator, value: [port._uuid] })),
    ),
  ];
}

function ourMirror(replica: Replica): Row | undefined {
  // There is one, or one that Kube-OVN made.
  return Array.from(replica.table('Mirror').values()).find((row) => row['name'] === MIRROR);
}
