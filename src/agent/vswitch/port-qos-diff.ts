/**
 * The operations that make the limits of a port as they should be: policing of what the pod sends, in its Interface, and a queue for what it
 * gets, in rows of QoS and Queue. These rows are roots of the database: nothing but the agent removes them. Pure.
 */
import { deleteRows, insertNamed, type Operation, update, waitForRow } from '../../ovsdb/operation.ts';
import type { Replica } from '../../ovsdb/replica.ts';
import type { Row } from '../../ovsdb/value.ts';
import type { PortOutput, PortQueue } from '../world/outputs.ts';
import { portKey, VENDOR } from '../world/port-keys.ts';
import { rowName } from './row-name.ts';

const NOTHING: readonly Operation[] = [];
const TABLES = ['QoS', 'Queue'] as const;

/** Indexes that the functions here use: to be declared once for each replica. */
export function declareQosIndexes(replica: Replica): void {
  for (const table of TABLES) replica.index(table, 'device', (row) => deviceOfQos(row) ?? '');
}

/** The port that a row of QoS or Queue belongs to; undefined for a row of another program. */
export function deviceOfQos(row: Row): string | undefined {
  const ids = row['external_ids'];
  if (!(ids instanceof Map) || ids.get(portKey.vendor) !== VENDOR) return undefined;
  const device: unknown = ids.get(portKey.device);
  return typeof device === 'string' ? device : undefined;
}

/** For a port whose Port and Interface exist. */
export function qosOperations(replica: Replica, { name, policing, queue, externalIds }: PortOutput): readonly Operation[] {
  const port = replica.index('Port', 'name').first(name);
  const device = replica.index('Interface', 'name').first(name);
  if (port === undefined || device === undefined) return NOTHING;
  const limits = { ingress_policing_rate: policing?.rate ?? 0, ingress_policing_burst: policing?.burst ?? 0 };
  const isPoliced = Object.entries(limits).every(([column, value]) => device[column] === value);
  return [
    ...(isPoliced ? NOTHING : [update('Interface', device._uuid, limits)]),
    ...queueOperations(replica, port, name, queue, externalIds),
  ];
}

/** Removes the rows of a port that is gone, or goes with the same transaction. */
export function qosRemoval(replica: Replica, name: string): readonly Operation[] {
  const port = replica.index('Port', 'name').first(name);
  const rows = rowDeletions(replica, name);
  // Also a port that goes must not refer to them.
  return port === undefined || rows.length === 0 ? rows : [update('Port', port._uuid, { qos: [] }), ...rows];
}

function rowDeletions(replica: Replica, name: string): readonly Operation[] {
  return TABLES.flatMap((table) =>
    replica
      .index(table, 'device')
      .all(name)
      .map((row) => deleteRows(table, row._uuid)),
  );
}

function queueOperations(
  replica: Replica,
  port: Row,
  name: string,
  queue: PortQueue | undefined,
  externalIds: Readonly<Record<string, string>>,
): readonly Operation[] {
  const ours = replica.index('QoS', 'device').all(name);
  const present = ours.find(({ _uuid }) => _uuid === port['qos']);
  if (queue === undefined) {
    // Another program's stays.
    return present === undefined ? rowDeletions(replica, name) : qosRemoval(replica, name);
  }
  const wanted = rowsOf(queue);
  if (present !== undefined && ours.length === 1 && isSame(replica, present, wanted)) return NOTHING;
  const ids = {
    [portKey.vendor]: VENDOR,
    [portKey.device]: name,
    [portKey.port]: externalIds[portKey.port] ?? '',
    pod: `${externalIds[portKey.podNamespace]}/${externalIds[portKey.podName]}`,
  };
  const [queueName, qosName] = [rowName('queue', name), rowName('qos', name)];
  return [
    waitForRow('Port', port._uuid),
    ...(wanted.queue === undefined ? [] : [insertNamed('Queue', { other_config: wanted.queue, external_ids: ids }, queueName)]),
    insertNamed(
      'QoS',
      {
        type: wanted.type,
        other_config: wanted.options,
        external_ids: ids,
        ...(wanted.queue === undefined ? {} : { queues: new Map([[0, queueName]]) }),
      },
      qosName,
    ),
    update('Port', port._uuid, { qos: [qosName] }),
    ...rowDeletions(replica, name),
  ];
}

interface QueueRows {
  readonly type: 'linux-htb' | 'linux-netem';
  readonly options: Readonly<Record<string, string>>;
  /** `other_config` of queue 0, which has all packets. */
  readonly queue?: Readonly<Record<string, string>>;
}

function rowsOf(queue: PortQueue): QueueRows {
  if (queue.kind === 'impairment') {
    const { latency, jitter, limit, loss } = queue;
    const given = Object.entries({ latency, jitter, limit, loss }).filter(([, value]) => value > 0);
    return { type: 'linux-netem', options: Object.fromEntries(given.map(([key, value]) => [key, String(value)])) };
  }
  const rate = String(queue.rate);
  // Without a rate of its own the whole is limited to a guess of the device's speed.
  const burst = queue.burst > 0 ? { burst: String(queue.burst) } : {};
  return { type: 'linux-htb', options: { 'max-rate': rate }, queue: { 'max-rate': rate, ...burst } };
}

function isSame(replica: Replica, present: Row, { type, options, queue }: QueueRows): boolean {
  if (present['type'] !== type || !sameMap(present['other_config'], options)) return false;
  const queues = present['queues'] instanceof Map ? [...present['queues']] : [];
  if (queue === undefined) return queues.length === 0;
  const [[number, uuid] = []] = queues;
  const row = replica.table('Queue').get(uuid as Row['_uuid']);
  return queues.length === 1 && number === 0 && sameMap(row?.['other_config'], queue);
}

function sameMap(map: Row[string] | undefined, wanted: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(wanted);
  return map instanceof Map && map.size === entries.length && entries.every(([key, value]) => map.get(key) === value);
}
