/**
 * Ineffective fields: valid for OVN, and without effect at present, such as a match with a missing address set. Kiln writes the rows all the
 * same, since the set, the network or the namespace may be created later, and reports the field in a condition until then.
 */
import type { ConditionType } from '../api/condition-types.ts';
import type { Finding, Subject } from '../api/validation/finding.ts';
import { findingOf } from '../api/validation/finding.ts';
import { matchHostBits } from '../api/validation/host-bits.ts';
import { namesInMatch } from '../api/values/match-text.ts';
import type { NamedInMatch } from '../api/values/match-text.ts';
import { POD_WITHOUT_EFFECT } from '../api/well-known.ts';
import { rowId } from '../nb/row-id.ts';
import type { ResourceName } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { findingsText } from './left-out.ts';
import type { PatchOutput } from './output.ts';

/** Abnormal-true: the object has the condition only while it is true. */
export const WITHOUT_EFFECT = 'WithoutEffect';

/** On a pod, whose conditions other programs write too, the type has Kiln's prefix. */
export function withoutEffectType(resource: ResourceName): ConditionType {
  return resource === 'pods' ? POD_WITHOUT_EFFECT : WITHOUT_EFFECT;
}

/** Address sets that ovn-northd makes by itself, in the Southbound database. */
const MADE_BY_NORTHD = /^svc_monitor_mac$|rtr_lb_\d+_ip[46]/;
/** For a port group `g`, ovn-northd makes the address sets `g_ip4` and `g_ip6`. */
const OF_PORT_GROUP = /^(.+)_ip[46]$/;

/** The condition, or its removal without findings. @param next a command */
export function withoutEffect(
  findings: readonly Finding[],
  next: string,
  type: ConditionType = WITHOUT_EFFECT,
): Pick<PatchOutput, 'conditions' | 'withoutConditions'> {
  // A finding about host bits names the condition only if there is no other one: its field is in effect, though not as written.
  const first = findings.find(({ code }) => code !== 'HostBitsCleared') ?? findings[0];
  if (first === undefined) return { withoutConditions: [type] };
  const message = `${findingsText(findings)}. All else is in effect; ${next}`;
  return { conditions: [{ type, status: 'True', reason: first.code, message, event: 'Warning' }] };
}

/** Ineffective parts of a valid match. @param field path of the match */
export function ineffectiveMatch(world: World, subject: Subject, field: string, match: string): readonly Finding[] {
  return [...missingNames(world, subject, field, match), ...matchHostBits(subject, field, match)];
}

/** Address sets and port groups that a match names and that do not exist. */
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
        rule: `the match is valid, and no packet meets it until ${table} ${name} exists`,
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
