import { localnetPort } from '../../api/names.ts';
import type { KindInvariants } from '../../invariants/kind-invariants.ts';
import type { Violation } from '../../invariants/violation.ts';
import { rowId } from '../../nb/row-id.ts';
import { vlanProvider, vlanTag } from './resource/vlan-fields.ts';

/** Of the Vlans with one tag in a network exactly one has no conflict, and the localnet port of a Subnet that is ready has its tag. */
export const invariants: KindInvariants = (world) => {
  const violations: Violation[] = [];
  const found = (subject: string, message: string): void => void violations.push({ invariant: 'I3', subject, message });
  const holders = new Map<string, string[]>();
  for (const [name, { spec, status }] of world.vlans.entries()) {
    if (vlanTag(spec) === 0 || status?.conflict === true) continue;
    const key = `${vlanProvider(spec)} ${vlanTag(spec)}`;
    holders.set(key, [...(holders.get(key) ?? []), name]);
  }
  for (const [key, names] of holders) if (names.length > 1) found(`Vlan ${names.join(', ')}`, `have ${key} together, and no conflict`);
  for (const [name, { spec, status }] of world.subnets.entries()) {
    const vlan = world.vlans.peek(spec.vlan ?? '');
    const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
    if (vlan === undefined || !ready) continue;
    const row = world.rows.best(rowId('Logical_Switch_Port', localnetPort(name)))?.row;
    const tag = typeof row?.['tag'] === 'number' ? row['tag'] : 0;
    if (row?.['type'] !== 'localnet' || tag !== vlanTag(vlan.spec))
      found(`Subnet ${name}`, `is ready on Vlan ${spec.vlan} with tag ${vlanTag(vlan.spec)}, and its localnet port has ${tag}`);
  }
  return violations;
};
