/**
 * Entries of load balancers whose Service does not exist: Kube-OVN left them, or their Service was deleted while no controller ran. The next
 * holder of such an address would get the traffic, so they go by the plan of the collection.
 */
import type { DesiredRows } from '../compile/desired-rows.ts';
import { isKeyless, LOAD_BALANCERS_RULE } from '../nb/ownership.ts';
import { identityOf } from '../nb/row-id.ts';
import { commandText } from '../text/command-text.ts';
import type { Entry } from '../world/row-identity.ts';
import { vipsOfService, vipText } from '../world/service-vips.ts';
import type { World } from '../world/world.ts';
import { API_SERVER } from '../world/world.ts';

/** The leftover entries of one load balancer. */
export interface LeftoverVips {
  readonly loadBalancer: string;
  /** The owner of the load balancer. */
  readonly vpc: string;
  readonly vips: readonly LeftoverVip[];
}

export interface LeftoverVip {
  /** Protocol, address and port: `tcp 10.96.0.10:80`. */
  readonly vip: string;
  /** As in OVN: separated by commas. */
  readonly backends: string;
  /** The command that removes it. */
  readonly remove: string;
}

/**
 * Empty while Services are not observed. One pass over the entries of the load balancers that Kiln owns.
 * @param desired the rows that the rules emit: with it, also the load balancers that a take-over would adopt
 */
export function leftoverVips(world: World, desired?: Pick<DesiredRows, 'row'>): readonly LeftoverVips[] {
  // Every cluster has this Service.
  if (world.services.peek(API_SERVER) === undefined) return [];
  const found = world.rows.inTable('Load_Balancer').flatMap((entry) => {
    const owner = ownerOf(entry, desired);
    return owner === undefined ? [] : [{ entry, vpc: owner.split('/').at(-1) ?? '' }];
  });
  if (found.length === 0) return [];
  const ofServices = new Set([...world.services.entries()].flatMap(([, service]) => vipsOfService(service)));
  return found
    .flatMap(({ entry, vpc }) => {
      const loadBalancer = identityOf(entry.id);
      const vips = vipsOf(entry).filter(({ vip }) => !ofServices.has(vip));
      return vips.length === 0 ? [] : [{ loadBalancer, vpc, vips }];
    })
    .toSorted((a, b) => (a.loadBalancer < b.loadBalancer ? -1 : 1));
}

/** The Vpc that the load balancer belongs to, or will; undefined if a rule for leftovers reports it, or if it is another program's. */
function ownerOf({ id, table, row, ownership }: Entry, desired: Pick<DesiredRows, 'row'> | undefined): string | undefined {
  if (ownership.kind === 'ours') return ownership.rule === LOAD_BALANCERS_RULE ? ownership.owner : undefined;
  const held = row['external_ids'];
  const isKubeOvns = ownership.kind === 'legacy' || isKeyless(table, identityOf(id), held instanceof Map ? held : undefined, ownership);
  if (!isKubeOvns) return undefined;
  const [emitted] = desired?.row(id)?.rows ?? [];
  return emitted?.rule === LOAD_BALANCERS_RULE ? emitted.owner.name : undefined;
}

function vipsOf({ id, row }: Entry): readonly LeftoverVip[] {
  const vips = row['vips'];
  if (!(vips instanceof Map)) return [];
  return [...vips]
    .map(([key, value]) => {
      const at = String(key);
      return {
        vip: vipText(String(row['protocol'] ?? ''), at),
        backends: String(value),
        remove: commandText`ovn-nbctl lb-del ${identityOf(id)} ${at}`,
      };
    })
    .toSorted((a, b) => (a.vip < b.vip ? -1 : 1));
}

const MOST_NAMED = 4;

/** One sentence, and the next command. */
export function leftoverVipsText({ loadBalancer, vips }: LeftoverVips): { readonly message: string; readonly next: string } {
  const more = vips.length > MOST_NAMED ? [`${vips.length - MOST_NAMED} more`] : [];
  const list = [...vips.slice(0, MOST_NAMED).map(vipLine), ...more].join('; ');
  const what = vips.length === 1 ? '1 vip that is of no Service' : `${vips.length} vips that are of no Service`;
  return { message: `Load_Balancer ${loadBalancer} has ${what}; the collection decides about it: ${list}`, next: 'kiln gc plan' };
}

/** One line for each vip, below its load balancer. */
export function leftoverVipsLines(groups: readonly LeftoverVips[]): readonly string[] {
  return groups.flatMap(({ loadBalancer, vips }) => [
    `of no Service, ${vips.length} in Load_Balancer ${loadBalancer}:`,
    ...vips.map((one) => `  ${vipLine(one)}; ${one.remove}`),
  ]);
}

function vipLine({ vip, backends }: LeftoverVip): string {
  return `${vip}${backends === '' ? '' : ` to ${backends}`}`;
}
