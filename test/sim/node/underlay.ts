/** A ProviderNetwork on a simulated node: the steps of a history for it, and what must hold of its addresses. */
import type { Random } from '../cluster/random.ts';
import type { Link } from './kernel.ts';
import { keysOf } from './open-vswitch.ts';
import type { SimulatedNode } from './simulated-node.ts';
import { ADDRESSES, ROUTE, UPLINK } from './uplink.ts';

export type NetworkStep =
  | { readonly do: 'network'; readonly present: boolean; readonly exchanged: boolean; readonly excluded: boolean }
  | { readonly do: 'network-harm'; readonly what: NetworkHarm };
export type NetworkHarm = 'bridge' | 'bridge-address' | 'bridge-primary' | 'put-back' | 'put-another' | 'mappings';

const BRIDGE = 'br-under';
const NETWORK = 'under';
const ANOTHER = '172.30.0.77/24';
const HARM: readonly NetworkHarm[] = ['bridge', 'bridge-address', 'bridge-primary', 'put-back', 'put-another', 'mappings'];

export function drawNetworkStep(random: Random): NetworkStep {
  return random.chance(0.5)
    ? { do: 'network', present: random.chance(0.75), exchanged: random.chance(0.4), excluded: random.chance(0.15) }
    : { do: 'network-harm', what: random.pick(HARM) };
}

interface ProviderNetworkObject {
  readonly spec?: { readonly exchangeLinkName?: boolean; readonly excludeNodes?: readonly string[] };
}

function networkOf({ lab }: SimulatedNode): ProviderNetworkObject['spec'] | undefined {
  return (lab.store.get('provider-networks.kubeovn.io', NETWORK) as ProviderNetworkObject | undefined)?.spec;
}

export function applyNetworkStep(node: SimulatedNode, step: NetworkStep): void {
  if (step.do === 'network-harm') return node.byHand('other', () => harmNetwork(node, step.what));
  const path = 'kubeovn.io/v1/provider-networks';
  const metadata = { name: NETWORK };
  if (!step.present) return void node.request(path, 'delete', '', { metadata });
  const spec = { defaultInterface: UPLINK, exchangeLinkName: step.exchanged, excludeNodes: step.excluded ? ['n1'] : [] };
  node.request(path, networkOf(node) === undefined ? 'create' : 'patch', '', { metadata, spec });
}

function harmNetwork(node: SimulatedNode, what: NetworkHarm): void {
  const { kernel, vswitch } = node;
  const row = [...vswitch.database.rows('Bridge')].find(([, one]) => keysOf(one).get('kiln.io/provider-network') === NETWORK);
  const [device, uplink] = [deviceOf(node), uplinkOf(node)];
  const take = (addresses: readonly string[]): void => {
    for (const address of addresses)
      if (device?.addresses.some(({ text }) => text === address) === true) kernel.removeAddress(device, address);
  };
  switch (what) {
    case 'bridge':
      if (row !== undefined)
        vswitch.transact([
          { op: 'mutate', table: 'Open_vSwitch', where: [], mutations: [['bridges', 'delete', ['set', [['uuid', row[0]]]]]] },
        ]);
      return;
    case 'bridge-address':
      return take(ADDRESSES);
    case 'bridge-primary':
      return take(ADDRESSES.slice(0, 1));
    case 'put-back':
      if (row !== undefined && uplink?.up === true) for (const address of ADDRESSES.slice(0, 2)) kernel.addAddress(uplink, address, true);
      return;
    case 'put-another':
      if (uplink?.up === true) kernel.addAddress(uplink, ANOTHER, true);
      return;
    case 'mappings':
      vswitch.transact([
        { op: 'mutate', table: 'Open_vSwitch', where: [], mutations: [['external_ids', 'delete', ['set', ['ovn-bridge-mappings']]]] },
      ]);
  }
}

/** The interface, whatever its name. */
function uplinkOf({ kernel }: SimulatedNode): Link | undefined {
  return [UPLINK, BRIDGE].map((name) => kernel.host.links.get(name)).find((link) => link?.kind === 'dummy');
}

/** That of the bridge. */
function deviceOf({ kernel }: SimulatedNode): Link | undefined {
  return [UPLINK, BRIDGE].map((name) => kernel.host.links.get(name)).find((link) => link?.kind === 'internal');
}

/** Something of the network is on the node. */
export function networkIsUsed(node: SimulatedNode): boolean {
  const [settings] = node.vswitch.database.rows('Open_vSwitch').values();
  return networkOf(node) !== undefined || (settings !== undefined && keysOf(settings).has('kiln.io/taken-interfaces'));
}

/** What the node itself is reached by: no write of the agent takes it away. */
export function networkFacts(node: SimulatedNode): readonly string[] {
  const { host } = node.kernel;
  const links = [uplinkOf(node), deviceOf(node)];
  const present = links.flatMap((link) => (link?.addresses ?? []).map(({ text }) => text));
  return [
    ...ADDRESSES.filter((address) => present.includes(address)).map((address) => `n1 interface: address ${address}`),
    ...(host.routes.some(({ dst, via }) => dst === ROUTE.dst && via === ROUTE.via) ? [`n1 interface: route ${ROUTE.dst}`] : []),
  ];
}

/** Without those of other programs; the order is that of each family. */
function byFamily({ addresses }: Link): string {
  const own = addresses.flatMap(({ text, scope }) => (scope === 'global' && text !== ANOTHER ? [text] : []));
  return own.toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':'))).join();
}

/** When everything is quiet. @returns what is wrong */
export function networkProblems(node: SimulatedNode): readonly string[] {
  const { host } = node.kernel;
  const spec = networkOf(node);
  const isHere = spec !== undefined && spec.excludeNodes?.includes('n1') !== true;
  const [bridge, port] = spec?.exchangeLinkName === true ? [UPLINK, BRIDGE] : [BRIDGE, UPLINK];
  const shown = (link: Link | undefined): string =>
    link === undefined ? 'absent' : `${link.name} ${link.kind} ${link.up ? 'up' : 'down'} ${byFamily(link)}`;
  const expected = isHere
    ? [`${bridge} internal up ${ADDRESSES.join()}`, `${port} dummy up `]
    : ['absent', `${UPLINK} dummy up ${ADDRESSES.join()}`];
  const routes = host.routes.filter(({ dst }) => dst === ROUTE.dst).map(({ dev }) => dev ?? '');
  const [settings] = node.vswitch.database.rows('Open_vSwitch').values();
  const keys = settings === undefined ? new Map<string, string>() : keysOf(settings);
  const compared: readonly (readonly [what: string, is: string, should: string])[] = [
    ['bridge and interface', [shown(deviceOf(node)), shown(uplinkOf(node))].join('; '), expected.join('; ')],
    ['route', routes.join(), isHere ? bridge : UPLINK],
    ['mapping', keys.get('ovn-bridge-mappings') ?? '', isHere ? `${NETWORK}:${bridge}` : ''],
    ['record', keys.has('kiln.io/taken-interfaces') ? 'there' : '', isHere ? 'there' : ''],
  ];
  return compared
    .filter(([, is, should]) => is !== should)
    .map(([what, is, should]) => `${what} of the network: ${is || 'none'}; expected: ${should || 'none'}`);
}
