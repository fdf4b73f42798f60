/**
 * The next hop outside that the ConfigMap of the external gateway names. OVN ignores a policy with a next hop in no network of the router: so
 * one that is in none is reported, and the gateway of the external Subnet stays in effect.
 */
import type { KeyProblem } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { enabledGatewayConfig } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { parseAddress } from '../../net/address.ts';
import { cidrContains, parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { ofFamily } from '../../net/dual.ts';
import type { World } from '../../world/world.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';

/** As the ConfigMap says, else the gateway of the external Subnet; empty for none. */
export function outsideNextHop(world: World, external: string, family: 4 | 6): string {
  const configured = external === world.settings.externalSubnet ? ofFamily(enabledGatewayConfig(world)?.nextHops ?? {}, family) : undefined;
  const isUsed = configured !== undefined && configured !== '' && unreachable(world, family) === undefined;
  return isUsed ? configured : gatewayOf(world, external, family);
}

/** What of the next hops of the ConfigMap has no effect. */
export function nextHopProblems(world: World): readonly KeyProblem[] {
  return ([4, 6] as const).flatMap((family) => {
    const problem = unreachable(world, family);
    return problem === undefined ? [] : [problem];
  });
}

function unreachable(world: World, family: 4 | 6): KeyProblem | undefined {
  const { externalSubnet } = world.settings;
  const value = ofFamily(enabledGatewayConfig(world)?.nextHops ?? {}, family) ?? '';
  const hop = parseAddress(value);
  const networks = networksOf(world);
  if (hop === undefined || networks.length === 0 || networks.some((cidr) => cidrContains(cidr, hop))) return undefined;
  const view = world.ask(subnetView, externalSubnet);
  const where = view === undefined || view.cidr === '' ? 'the networks of nic-ip' : `${view.cidr}, the network of Subnet ${externalSubnet}`;
  const gateway = gatewayOf(world, externalSubnet, family);
  const rule =
    gateway === ''
      ? 'the next hop outside is an address of it, and until then nothing leads there'
      : `the next hop outside is an address of it, and until then it is ${gateway}, the gateway of the Subnet`;
  return { key: 'external-gw-addr', value, problem: `is outside of ${where}`, rule };
}

/** Of both families: those that the router port has, or will have. None while they are not known. */
function networksOf(world: World): readonly NonNullable<ReturnType<typeof parseCidr>>[] {
  const view = world.ask(subnetView, world.settings.externalSubnet);
  const ofSubnet = [view?.v4?.cidr ?? '', view?.v6?.cidr ?? ''].flatMap((text) => parseCidr(text) ?? []);
  if (ofSubnet.length > 0) return ofSubnet;
  return (enabledGatewayConfig(world)?.networks ?? []).flatMap((text) => parseInterfaceAddress(text)?.cidr ?? []);
}

function gatewayOf(world: World, subnet: string, family: 4 | 6): string {
  const view = world.ask(subnetView, subnet);
  return (view === undefined ? undefined : ofFamily(view, family)?.gateway) ?? '';
}
