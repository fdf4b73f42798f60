/**
 * What OVN takes and an object asks in vain, as things are: its rows are written, for the set, the network or the namespace may come yet, and
 * the object says so while it has not.
 */
import type { Finding, Subject } from '../api/validation/finding.ts';
import { findingOf } from '../api/validation/finding.ts';
import { matchHostBits } from '../api/validation/host-bits.ts';
import { namesInMatch } from '../api/values/match-text.ts';
import type { NamedInMatch } from '../api/values/match-text.ts';
import { rowId } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';
import { findingsText } from './left-out.ts';
import type { PatchOutput } from './output.ts';

/** Abnormal when true, and only then there. */
export const WITHOUT_EFFECT = 'WithoutEffect';
/** What ovn-northd makes by itself, in the Southbound database. */
const MADE_BY_NORTHD = /^svc_monitor_mac$|rtr_lb_\d+_ip[46]/;
/** Of a port group named `g`, ovn-northd makes the address sets `g_ip4` and `g_ip6`. */
const OF_PORT_GROUP = /^(.+)_ip[46]$/;

/** The condition, or that there is none. @param next a command */
export function withoutEffect(findings: readonly Finding[], next: string): Pick<PatchOutput, 'conditions' | 'withoutConditions'> {
  const [first] = findings;
  if (first === undefined) return { withoutConditions: [WITHOUT_EFFECT] };
  const message = `${findingsText(findings)}. All else is in effect; ${next}`;
  return { conditions: [{ type: WITHOUT_EFFECT, status: 'True', reason: first.code, message, event: 'Warning' }] };
}

/** What a match that OVN takes does not mean, as things are. @param field path of the match */
export function matchInVain(world: World, subject: Subject, field: string, match: string): readonly Finding[] {
  return [...missingNames(world, subject, field, match), ...matchHostBits(subject, field, match)];
}

/** Address sets and port groups that a match names and nobody made. */
function missingNames(world: World, subject: Subject, field: string, match: string): readonly Finding[] {
  return namesInMatch(match).flatMap((named) => {
    if (exists(world, named)) return [];
    const { kind, name } = named;
    const [code, mark, table] =
      kind === 'address set' ? (['AddressSetMissing', '$', 'Address_Set'] as const) : (['PortGroupMissing', '@', 'Port_Group'] as const);
    return [
      findingOf(subject, {
        code,
        field,
        value: match,
        problem: `names ${kind} ${mark}${name}, which does not exist`,
        rule: `OVN takes such a match and no packet meets it until ${table} ${name} is there`,
      }),
    ];
  });
}

function exists(world: World, { kind, name }: NamedInMatch): boolean {
  const isThere = (table: string, key: string): boolean => world.rows.state(rowId(table, key)) !== undefined;
  if (kind === 'port group') return isThere('Port_Group', name);
  const [, group] = OF_PORT_GROUP.exec(name) ?? [];
  return isThere('Address_Set', name) || MADE_BY_NORTHD.test(name) || (group !== undefined && isThere('Port_Group', group));
}
