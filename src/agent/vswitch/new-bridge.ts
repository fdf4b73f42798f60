/** The operations that insert a bridge, with the port that each has. Pure. */
import { insertNamed, mutateInsert, type Operation, waitForNone } from '../../ovsdb/operation.ts';
import type { Replica } from '../../ovsdb/replica.ts';
import type { InputRow } from '../../ovsdb/value.ts';
import { portKey, VENDOR } from '../world/port-keys.ts';
import { rowName } from './row-name.ts';

/** @param row its columns, beside name and ports. @returns nothing while Open vSwitch has not made its own row */
export function newBridge(replica: Replica, name: string, row: InputRow): readonly Operation[] {
  const [switchRow] = replica.table('Open_vSwitch').values();
  if (switchRow === undefined) return [];
  const [interfaceName, port, bridge] = [rowName('interface', name), rowName('port', name), rowName('bridge', name)];
  return [
    waitForNone('Bridge', 'name', name),
    insertNamed('Interface', { name, type: 'internal' }, interfaceName),
    insertNamed('Port', { name, interfaces: [interfaceName], external_ids: { [portKey.vendor]: VENDOR } }, port),
    insertNamed('Bridge', { name, ports: [port], ...row }, bridge),
    mutateInsert('Open_vSwitch', switchRow._uuid, 'bridges', [bridge]),
  ];
}
