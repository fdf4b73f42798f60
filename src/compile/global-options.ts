/**
 * Options of OVN that apply to every network of the database (column `options` of NB_Global), with Kube-OVN's values. Kiln needs none of
 * them: they keep networks as they were under Kube-OVN. They would also change the networks of other programs; if there are any, they are
 * set only if the setting demands it. An option that another program set stays as it is (`diff/global-diff.ts`), and the difference is
 * reported. The same applies to Kube-OVN's key for the release whose layout the database has.
 */
import { GLOBAL_ROW, heldKey } from '../nb/global-keys.ts';
import { commandText } from '../text/command-text.ts';
import { clusterObject } from '../world/built-in.ts';
import { ONCE } from '../engine/domain.ts';
import type { World } from '../world/world.ts';
import type { Rule } from './rule.ts';
import type { KeyOutput, Output } from './output.ts';

export const globalOptions: Rule = {
  name: 'global-options',
  over: () => ONCE,
  run: (world) => [
    ...Object.entries(emittedOptions(world)).map(([key, value]): Output => ({
      kind: 'member',
      row: GLOBAL_ROW,
      column: 'options',
      member: { key, value },
      ...emitter(world),
    })),
    ...layoutRelease(world),
    ...reports(world),
  ],
};

function mayEmit({ settings: { globalOptions }, rows }: World): boolean {
  return globalOptions === 'always' || (globalOptions === 'unshared' && !rows.foreignNetworks.exist);
}

/**
 * The release of Kube-OVN whose layout Kiln writes. Kube-OVN 1.15 and newer write the vendor key into rows of older releases, unless the
 * database has this key; so Kiln sets it only once all these rows have the vendor key.
 */
const LAYOUT_RELEASE = 'v1.17.0';

function layoutRelease(world: World): readonly Output[] {
  if (!mayEmit(world) || world.rows.keyless.exist) return [];
  const member = { key: 'kube-ovn-version', value: LAYOUT_RELEASE };
  return [{ kind: 'member', row: GLOBAL_ROW, column: 'external_ids', member, ...emitter(world) }];
}

/** The default Vpc, whether it exists yet or not: it has them for the whole cluster. */
function emitter({ settings: { defaultVpc } }: World): Pick<KeyOutput, 'owner' | 'rule'> {
  return { owner: { kind: 'vpc', namespace: '', name: defaultVpc, uid: '', created: '' }, rule: globalOptions.name };
}

function emittedOptions(world: World): Readonly<Record<string, string>> {
  const { settings } = world;
  if (!mayEmit(world)) return {};
  return {
    ls_dnat_mod_dl_dst: String(settings.lsDnatModDlDst),
    use_ct_inv_match: 'false',
    ls_ct_skip_dst_lport_ips: String(settings.lsCtSkipDstLportIps),
  };
}

export interface ForeignOption {
  readonly key: string;
  /** The value that another program set. */
  readonly value: string;
  /** The value that Kiln would set. */
  readonly instead: string;
}

/** Options with another program's value, which is not the one that Kiln would set. */
export function foreignOptions(world: World): readonly ForeignOption[] {
  const options = world.rows.column(GLOBAL_ROW, 'options');
  const externalIds = world.rows.column(GLOBAL_ROW, 'external_ids');
  if (options === undefined || externalIds === undefined) return [];
  return Object.entries(emittedOptions(world)).flatMap(([key, instead]) => {
    const { value, isForeign } = heldKey({ options, external_ids: externalIds }, { column: 'options', key });
    return isForeign && value !== undefined && value !== instead ? [{ key, value, instead }] : [];
  });
}

export function foreignOptionText({ key, value, instead }: ForeignOption): string {
  return `NB_Global option ${key} is ${JSON.stringify(value)}, which another program set; Kiln would set "${instead}" and leaves it as it is`;
}

/** The command that removes the option, so that Kiln sets it. */
export function optionRemoval({ key }: ForeignOption): string {
  return commandText`ovn-nbctl remove NB_Global . options ${key}`;
}

function reports(world: World): readonly Output[] {
  const { resource, key } = clusterObject(world.settings);
  const uid = world.tables[resource]?.get(key)?.metadata.uid;
  if (uid === undefined) return [];
  return foreignOptions(world).map((foreign) => ({
    kind: 'report',
    resource,
    key,
    uid,
    type: 'Warning',
    reason: 'GlobalOptionKept',
    message: `${foreignOptionText(foreign)}; to have Kiln set it: ${optionRemoval(foreign)}`,
  }));
}
