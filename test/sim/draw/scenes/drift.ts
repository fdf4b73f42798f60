/**
 * Draws what somebody does to rows of Kiln's with ovn-nbctl while all is calm: one row, one column, and a moment to put it back. Of lives in which much goes on at a time nobody
 * can say whether a change was undone because of that or for another reason.
 *
 * From a generator of its own, as `draw-broad.ts`.
 */
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { wait } from './steps.ts';
import type { RowChange, Step } from '../../steps/step.ts';

const KEYS: RowChange = { kind: 'keys', column: 'external_ids', keys: { drifted: 'yes' } };

/** By table: what can be done to a row of it, beside taking it away and making another one like it. */
const CHANGES: Readonly<Record<string, readonly RowChange[]>> = {
  Logical_Switch_Port: [
    { kind: 'set', columns: { addresses: 'unknown' } },
    { kind: 'set', columns: { port_security: ['set', []] } },
    { kind: 'set', columns: { enabled: false } },
    { kind: 'keys', column: 'options', keys: { drifted: 'yes' } },
    KEYS,
  ],
  // Not its networks: they alone say which network is in effect while another one is asked for.
  Logical_Router_Port: [{ kind: 'set', columns: { mac: '0a:00:00:00:0d:01' } }, KEYS],
  Logical_Switch: [
    { kind: 'keys', column: 'other_config', keys: { mcast_snoop: 'true' } },
    { kind: 'clear-members', column: 'load_balancer' },
    KEYS,
  ],
  Logical_Router: [
    { kind: 'keys', column: 'options', keys: { always_learn_from_arp_request: 'drifted' } },
    { kind: 'set', columns: { enabled: false } },
    KEYS,
  ],
  Logical_Router_Policy: [
    { kind: 'set', columns: { action: 'drop', nexthops: ['set', []] } },
    { kind: 'set', columns: { nexthops: ['set', ['10.250.0.1', '10.250.0.2']] } },
    KEYS,
  ],
  Logical_Router_Static_Route: [{ kind: 'set', columns: { route_table: 'drifted' } }, KEYS],
  Port_Group: [
    { kind: 'clear-members', column: 'ports' },
    { kind: 'put', column: 'ports', of: 'Logical_Switch_Port', at: 3 },
    { kind: 'put', column: 'ports', of: 'Logical_Switch_Port', at: 8 },
    KEYS,
  ],
  ACL: [
    { kind: 'set', columns: { log: true, severity: 'debug' } },
    { kind: 'set', columns: { action: 'reject' } },
  ],
  DHCP_Options: [
    { kind: 'set', columns: { options: ['map', []] } },
    { kind: 'keys', column: 'options', keys: { mtu: '576' } },
  ],
  Address_Set: [{ kind: 'set', columns: { addresses: ['set', []] } }],
  Load_Balancer: [{ kind: 'set', columns: { protocol: 'sctp' } }, KEYS],
};

/** What was found before is told by then: of much at a time not each is. */
const TOLD_MS = 20_000;

/** Another program undoes each repair, for longer than Kiln goes along with that at once, and stops then. */
function fight(random: Random): readonly Step[] {
  const [table, place] = [random.pick(['Logical_Switch', 'Logical_Router', 'Logical_Switch_Port']), random.below(60)];
  return Array.from({ length: 8 }, () => [doing({ do: 'row', table, place, change: KEYS }), wait(120)]).flat();
}

export function drawDrift(random: Random): readonly Step[] {
  if (random.chance(0.15)) return fight(random);
  const changes = Array.from({ length: 2 + random.below(3) }, () => {
    const table = random.pick(Object.keys(CHANGES));
    const change = random.chance(0.3)
      ? { kind: random.pick(['delete', 'duplicate', 'forget-owner'] as const) }
      : random.pick(CHANGES[table] as readonly RowChange[]);
    return [doing({ do: 'row', table, place: random.below(60), change }), wait(400)];
  });
  return [wait(TOLD_MS), ...changes.flat()];
}
