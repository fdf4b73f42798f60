/**
 * Leftovers: rows of features that are not implemented, and rows whose purpose has ended. A leftover is retained as it is while the object
 * that it serves exists, and is deleted with that object. A leftover for a node is deleted once the node is gone. A leftover that serves no
 * existing object stays, and is reported (`explain/leftovers.ts`).
 */
import { LEFTOVER_RULE, RULE_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { isOwnUuid, tableOf } from '../nb/row-id.ts';
import { isNatRule } from '../world/nat-rules.ts';
import type { ResourceName } from '../world/resources.ts';
import { resourceOfKind } from '../world/resources.ts';
import type { Query, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import type { Rule } from './rule.ts';
import { rowMac, macExternalId } from './row-mac.ts';
import { adoptedRow, retainedRow } from './retained-row.ts';
import { TRANSLATED, translatedFor } from './vip-eip/leftover-translation.ts';
import { POD_USES, podTranslation } from './nat/pod-translation.ts';
import { translations } from './nat/translation.ts';
import { nodeExists, nodeOwner, nodeView } from './node/node-view.ts';
import type { RowOwner, RowOutput } from './output.ts';
import { isFinished } from './pod/view/pod-life.ts';
import { subnetRows } from './subnet/validity/subnet-state.ts';
import { subnetOwner, subnetView } from './subnet/validity/subnet-view.ts';
import { vpcReleased } from './vpc/vpc-state.ts';
import { vpcOwner, vpcView } from './vpc/vpc-view.ts';

export const leftoverRows: Rule = {
  name: LEFTOVER_RULE,
  over: (world) => world.rows.leftovers.owners,
  run: (world, owner) => {
    const served = servedBy(world, owner);
    return served === undefined ? [] : [...world.rows.leftovers.of(owner)].toSorted().flatMap((id) => leftoverRow(world, id, served) ?? []);
  },
};

/** An object that leftovers serve. */
interface ServedObject {
  readonly owner: RowOwner;
  /** No dependent needs its rows any more. */
  readonly isReleased: boolean;
}

function leftoverRow(world: World, id: RowId, { owner, isReleased }: ServedObject): RowOutput | undefined {
  const translated = translatedFor(world, id);
  // A legacy row is adopted first, also if it is deleted afterwards.
  const legacy = isInSecondRow(world, id) ? undefined : adoptedRow(world, id, translated ?? owner, formerRule(world, id));
  if (legacy !== undefined) return { ...legacy, leftover: true, externalIds: { ...legacy.externalIds, ...macOf(world, id) } };
  const node = world.rows.serves(id)?.node ?? '';
  if (translated === undefined && isOfPredecessor(world, id, owner)) return undefined;
  if (isReleased || (node !== '' && !world.ask(nodeExists, node))) return undefined;
  // Another rule emits it, and the leftover is a second row of its identity.
  if (!isLeftover(world, id)) return undefined;
  const retained = retainedRow(world, id);
  return retained === undefined ? undefined : { ...retained, owner: translated ?? owner, leftover: true };
}

/**
 * The rule of a row of Kiln's that lost the keys of its row owner, so that it looks like Kube-OVN's. With its rule again it is no leftover,
 * and is collected unless that rule emits it.
 */
function formerRule(world: World, id: RowId): string {
  const held = world.rows.column(id, 'external_ids');
  const rule: unknown = held instanceof Map ? held.get(RULE_KEY) : undefined;
  if (typeof rule === 'string') return rule;
  const row = world.rows.state(id);
  return row !== undefined && isOwnUuid(row.uuid) ? '' : LEFTOVER_RULE;
}

function isLeftover(world: World, id: RowId): boolean {
  const ownership = world.rows.state(id)?.ownership;
  return ownership?.kind === 'ours' && ownership.rule === LEFTOVER_RULE;
}

/** Whether only a second row of a name contains it: in the first one, which Kiln keeps, it would come into effect. */
function isInSecondRow(world: World, id: RowId): boolean {
  const row = world.rows.state(id);
  if (row?.parent === undefined) return false;
  return world.rows.parentsOf(row.uuid).every(({ uuid }) => {
    const parent = world.rows.byUuid(uuid);
    return parent !== undefined && world.rows.state(parent.id)?.uuid !== uuid;
  });
}

/** Whether the row translates addresses for an earlier object of the same name: the present object has other addresses. */
function isOfPredecessor(world: World, id: RowId, { kind, uid }: RowOwner): boolean {
  const ownership = world.rows.state(id)?.ownership;
  return TRANSLATED.has(kind) && ownership?.kind === 'ours' && ownership.uid !== uid;
}

/** A rule that emits the row later keeps its present MAC. */
function macOf(world: World, id: RowId): Readonly<Record<string, string>> {
  const table = tableOf(id);
  if (table === 'Logical_Router_Port') return macExternalId(id, rowMac(world, id, 'mac'));
  return table === 'DHCP_Options' ? macExternalId(id, rowMac(world, id, 'options', 'server_mac')) : {};
}

function servedBy(world: World, text: string): ServedObject | undefined {
  const [kind = '', namespace = '', name = ''] = text.split('/');
  switch (kind) {
    case 'vpc': {
      const view = world.ask(vpcView, name);
      return view === undefined ? undefined : { owner: vpcOwner(view), isReleased: world.ask(vpcReleased, name) };
    }
    case 'subnet': {
      const view = world.ask(subnetView, name);
      if (view === undefined) return undefined;
      return { owner: subnetOwner(view), isReleased: view.terminating && world.ask(subnetRows, name) === 'none' };
    }
    case 'node': {
      const view = world.ask(nodeView, name);
      const gone = { kind, namespace, name, uid: '', created: '' };
      return { owner: view === undefined ? gone : nodeOwner(view), isReleased: view === undefined };
    }
    default: {
      const resource = resourceOfKind(kind);
      const key = namespace === '' ? name : `${namespace}/${name}`;
      const uid = resource === undefined ? undefined : uidOf(world, resource, key);
      if (resource === undefined || uid === undefined) return undefined;
      return {
        owner: { kind, namespace, name, uid, created: '' },
        isReleased:
          resource === 'pods' ? world.ask(podReleased, key) : isNatRule(resource) && world.ask(natRuleReleased, `${resource}/${name}`),
      };
    }
  }
}

/** A NAT rule needs Kube-OVN's rows no more: it is being deleted, or has rows of its own. Key: `<resource>/<name>`. */
const natRuleReleased: Query<boolean> = defineQuery('nat-rule-released', (world, key) => {
  const at = key.indexOf('/');
  const rule = world.tables[key.slice(0, at) as ResourceName]?.get(key.slice(at + 1));
  return rule?.metadata.deletionTimestamp !== undefined || world.derived(translations).get(key)?.result.kind === 'translation';
});

/** A pod needs Kube-OVN's rows no more: it requests no external address any longer. */
const podReleased: Query<boolean> = defineQuery('pod-translation-released', (world, key) =>
  Object.keys(POD_USES).every((use) => world.ask(podTranslation, `${use}/${key}`) === undefined),
);

/** Of an object whose kind has no rows of its own, and of a pod that Kube-OVN translated addresses for. */
function uidOf(world: World, resource: ResourceName, key: string): string | undefined {
  if (resource === 'pods') {
    const pod = world.pods.get(key);
    return pod === undefined || isFinished(pod) ? undefined : pod.metadata.uid;
  }
  return isNatRule(resource) ? world.natRules[resource].get(key)?.metadata.uid : world.unimplemented.get(`${resource}/${key}`)?.uid;
}
