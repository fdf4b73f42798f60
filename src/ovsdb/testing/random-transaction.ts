/** Random transactions, for comparing the contents of two databases after the same ones. */
import {
  deleteRows,
  insert,
  mapSet,
  mutateDelete,
  mutateInsert,
  newUuid,
  update,
  type Operation,
  type OvsdbSession,
  type Uuid,
} from '../index.ts';

/** The tables they change. */
export const tables = ['Logical_Switch', 'Logical_Switch_Port', 'Load_Balancer', 'QoS'] as const;

/** Numbers that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Any transaction on switches, their ports, load balancers and QoS rows: some of them fail, as some do anywhere. */
export function randomTransaction(session: OvsdbSession, random: (below: number) => number): Operation[] {
  const any = (table: string): Uuid => {
    const uuids = [...session.replica.table(table).keys()];
    return uuids[random(uuids.length || 1)] ?? newUuid();
  };
  const text = (): string => ['a', 'b', 'ç', '"', '\\', ''][random(6)]! + random(50);
  const pairs = (): Record<string, string> => Object.fromEntries(Array.from({ length: random(4) }, () => [`k${random(6)}`, text()]));
  const texts = (): string[] => [...new Set(Array.from({ length: random(4) }, text))];
  const choices: (() => Operation[])[] = [
    () => [insert('Logical_Switch', { name: text(), external_ids: pairs(), other_config: pairs() }, newUuid())],
    () => {
      const port = newUuid();
      return [
        insert(
          'Logical_Switch_Port',
          { name: text() + newUuid(), addresses: texts(), tag: random(2) === 0 ? null : 1 + random(100) },
          port,
        ),
        mutateInsert('Logical_Switch', any('Logical_Switch'), 'ports', [port]),
      ];
    },
    () => [insert('Load_Balancer', { name: text(), vips: pairs(), selection_fields: ['ip_src', 'tp_dst'].slice(random(3)) }, newUuid())],
    () => {
      const qos = newUuid();
      return [
        insert('QoS', { priority: random(10), direction: 'to-lport', match: text(), bandwidth: { rate: 1 + random(9) } }, qos),
        update('Logical_Switch', any('Logical_Switch'), { qos_rules: [qos] }),
      ];
    },
    () => [
      update('Logical_Switch_Port', any('Logical_Switch_Port'), {
        addresses: texts(),
        up: [true, false, null][random(3)]!,
        options: pairs(),
      }),
    ],
    () => [mapSet('Logical_Switch', any('Logical_Switch'), 'external_ids', pairs())],
    () => [
      mutateDelete('Load_Balancer', any('Load_Balancer'), 'vips', [`k${random(6)}`]),
      mutateInsert('Load_Balancer', any('Load_Balancer'), 'vips', pairs()),
    ],
    () => [mutateInsert('Logical_Switch', any('Logical_Switch'), 'load_balancer', [any('Load_Balancer')])],
    () => [update('QoS', any('QoS'), { bandwidth: random(2) === 0 ? {} : { burst: 1 + random(9), rate: 5 }, match: text() })],
    () => [mutateDelete('Logical_Switch', any('Logical_Switch'), 'ports', [any('Logical_Switch_Port')])],
    () => (random(4) === 0 ? [deleteRows('Load_Balancer', any('Load_Balancer'))] : []),
    () => (random(8) === 0 ? [deleteRows('Logical_Switch_Port', any('Logical_Switch_Port'))] : []),
    () => (random(8) === 0 ? [deleteRows('Logical_Switch', any('Logical_Switch'))] : []),
  ];
  return Array.from({ length: 1 + random(4) }, () => choices[random(choices.length)]!()).flat();
}
