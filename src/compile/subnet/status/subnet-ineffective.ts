/** Ineffective fields of a Subnet's spec, reported by condition `WithoutEffect`. */
import type { Finding, Subject } from '../../../api/validation/finding.ts';
import { findingOf, wrongFields } from '../../../api/validation/finding.ts';
import { allowedHostBits } from '../../../api/validation/subnet-host-bits.ts';
import { providerFinding, selectorFindings } from '../../../api/validation/impossible-labels.ts';
import { servicesOverlap } from '../../../api/validation/subnet-services.ts';
import { ineffectiveSubnetFields } from '../../../api/validation/subnet-ineffective-fields.ts';
import { DEFAULT_PROVIDER, kilnAnnotation } from '../../../api/well-known.ts';
import { familiesOf, formatDualCidr, ofFamily, parseDualCidr, splitList } from '../../../net/dual.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { ForeignPortAddresses } from '../../../world/reservations.ts';
import { DEFAULT_SETTINGS } from '../../../world/settings.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { namespaceFindingsOf, namespacesFindings, namespacesOfAnotherVpc } from '../../namespace/listed-namespaces.ts';
import { unreadAnnotations } from '../../unread-annotations.ts';
import { ineffectiveMatch } from '../../ineffective-condition.ts';
import { subnetSpec } from '../validity/spec-in-effect.ts';
import { excludesOutside } from './subnet-excludes.ts';
import { subnetFindings } from '../validity/subnet-findings.ts';
import { centralizedGateway, gatewayCandidates, networksWithoutGateway } from '../rows/subnet-gateway.ts';
import { requestedNetworks } from '../validity/subnet-networks.ts';
import { networkMissing } from '../validity/subnet-provider.ts';
import { sharedRoutes, unsharedTraffic } from '../rows/shared-subnet-routes.ts';
import { sourceRoutes } from '../rows/subnet-routes.ts';
import { subnetView } from '../validity/subnet-view.ts';
import { vpcSpec } from '../../vpc/vpc-view.ts';
import { sharedRoute } from '../../vpc/shared-routes.ts';
import type { Route } from '../../vpc/requested-route.ts';
import { commandText } from '../../../text/command-text.ts';

const RANGES_SHOWN = 5;
/** Ports of a switch that northd gives keys: 15 bits, and 11 in tunnels of VXLAN (ovn-architecture(7), Tunnel Encapsulations). */
const MOST_PORTS = { geneve: 32_767, stt: 32_767, vxlan: 2_047 } as const;

/** A query of its own: the status runs again for many other reasons. */
export const subnetIneffective: Query<readonly Finding[]> = defineQuery('subnet-ineffective', (world, name) => {
  const spec = world.ask(subnetSpec, name) ?? {};
  const { namespaces, namespaceSelectors, gatewayNodeSelectors, provider, acls = [] } = spec;
  const subject = { kind: 'Subnet', name };
  const metadata = world.ask(subnetIntent, name)?.metadata;
  const wrong = wrongFields(acls.length === 0 ? [] : world.ask(subnetFindings, name));
  const matches = acls.flatMap(({ match = '' }, i) => {
    const field = `spec.acls[${i}].match`;
    return wrong.has(field) ? [] : ineffectiveMatch(world, subject, field, match);
  });
  return [
    // Those of a tenant that is deleted as a whole may go first.
    ...(metadata?.deletionTimestamp === undefined ? namespacesFindings(world, subject, namespaces) : []),
    ...ofAnotherVpc(world, subject, namespaces),
    ...world.ask(tenancyFindings, name),
    ...selectorFindings(subject, 'spec.namespaceSelectors', namespaceSelectors),
    ...selectorFindings(subject, 'spec.gatewayNodeSelectors', gatewayNodeSelectors),
    ...providerOf(world, subject, provider),
    ...servicesOverlap({ name, spec }, world.settings),
    ...world.ask(excludesOutside, name),
    ...allExcluded(world, subject),
    ...ofForeignPorts(world, subject),
    ...nearlyFull(world, subject, spec.cidrBlock),
    ...notJoined(world, subject),
    ...missingGateways(world, subject),
    ...claimsForJoin(world, subject),
    ...ofSettings(world, subject),
    ...routesInEffect(world, name).flatMap((route) => routeShared(world, subject, route)),
    ...unsharedTraffic(world, subject),
    ...ineffectiveSubnetFields({ name, spec }, world.settings, world.ask(hasBfd, world.ask(subnetView, name)?.vpc ?? '')),
    ...allowedHostBits({ name, spec }),
    ...matches,
    ...unreadAnnotations(subject, metadata?.annotations),
  ];
});

const ADMITTED = `metadata.annotations[${kilnAnnotation.admitNamespaces}]`;

/** Ineffective annotations about tenants. */
const tenancyFindings: Query<readonly Finding[]> = defineQuery('subnet-tenancy-findings', (world, name) => {
  const annotations = world.ask(subnetIntent, name)?.metadata.annotations ?? {};
  const subject = { kind: 'Subnet', name };
  const names = splitList(annotations[kilnAnnotation.admitNamespaces] ?? '');
  const unread = [kilnAnnotation.allowPortSecurityOff, kilnAnnotation.allowLayer2Forward, kilnAnnotation.allowChangeUnderPods].flatMap(
    (key): Finding[] => {
      const value = annotations[key]?.trim() ?? '';
      if (['', 'true', 'false'].includes(value)) return [];
      const field = `metadata.annotations[${key}]`;
      const rule = 'write true or false; any other value allows nothing';
      return [findingOf(subject, { code: 'InvalidAnnotation', field, value, problem: 'is neither true nor false', rule })];
    },
  );
  return [...names.flatMap((value) => namespaceFindingsOf(world, subject, ADMITTED, value)), ...unread];
});

function providerOf(world: World, subject: Subject, provider = ''): readonly Finding[] {
  const impossible = providerFinding(subject, provider);
  return impossible.length > 0 ? impossible : networkMissing(world, subject.name, provider);
}

/** None for a Subnet for attachments: its list binds no namespace. */
function ofAnotherVpc(world: World, subject: Subject, namespaces: readonly string[] = []): readonly Finding[] {
  const view = namespaces.length === 0 ? undefined : world.ask(subnetView, subject.name);
  return view?.provider === DEFAULT_PROVIDER ? namespacesOfAnotherVpc(world, subject, view.vpc, namespaces) : [];
}

/** Families with all addresses excluded: a pod that names no address waits for ever, in a dual-stack Subnet for both families. */
function allExcluded(world: World, subject: Subject): readonly Finding[] {
  const { excludeIps = [] } = world.ask(subnetSpec, subject.name) ?? {};
  const networks = world.ask(requestedNetworks, subject.name);
  const families = world.ask(familiesNeverGiven, subject.name);
  return families.flatMap((family) => {
    const cidr = ofFamily(networks, family)?.cidr;
    // A network that only stays for existing addresses allocates none anyway.
    if (cidr === undefined || ofFamily(networks.cidrStays, family) !== undefined) return [];
    return [
      findingOf(subject, {
        code: 'SubnetNeverGiven',
        field: 'spec.excludeIps',
        value: excludeIps.join(','),
        problem: `leaves no address of ${cidr} to allocate`,
        rule: 'a pod that names no address waits for ever: only a pod that names an excluded address gets it, and none gets the gateway, the first address of a network, or the last one of an IPv4 network',
      }),
    ];
  });
}

/** Gateway nodes that do not exist, beside one that does: without any the Subnet is not ready, and says so. */
function missingGateways(world: World, subject: Subject): readonly Finding[] {
  const view = world.ask(subnetView, subject.name);
  if (view === undefined || (world.ask(centralizedGateway, subject.name)?.nodes ?? []).length === 0) return [];
  const missing = gatewayCandidates(world, view).filter(({ state }) => state === 'missing');
  return missing.map(({ node }) =>
    findingOf(subject, {
      code: 'GatewayNodeMissing',
      field: 'spec.gatewayNode',
      value: node,
      problem: 'is no Node',
      rule: 'traffic leaves through the other gateway nodes alone: it cannot move to this one when they fail',
    }),
  );
}

/** Addresses of foreign ports: the allocator does not give them out. The user knows which ports should stay. */
function ofForeignPorts(world: World, { kind, name }: Subject): readonly Finding[] {
  // All addresses of a Subnet of an external Vpc are another program's first.
  if (world.ask(subnetView, name)?.external === true) return [];
  const networks = world.ask(requestedNetworks, name);
  return world.ask(foreignPortAddresses, name).map(({ family, count, range }) => {
    const ranges = range.split(',');
    const shown = `${ranges.slice(0, RANGES_SHOWN).join(', ')}${ranges.length > RANGES_SHOWN ? ' and more' : ''}`;
    return findingOf(
      { kind, name },
      {
        code: 'AddressesOfOthers',
        field: 'spec.cidrBlock',
        value: ofFamily(networks, family)?.cidr ?? '',
        problem: `has ${count} address${count === 1n ? '' : 'es'} that ports of other programs in its switch have: ${shown}`,
        rule: `Kiln does not allocate them; ${commandText`ovn-nbctl show ${name} lists the ports`}, and spec.excludeIps is for the addresses of those that should stay`,
      },
    );
  });
}

/** Said before there is none left: northd then only logs it, and ADDs of the pods beyond wait for flows that never come. */
function nearlyFull(world: World, subject: Subject, cidrBlock = ''): readonly Finding[] {
  if (!world.ask(isNearlyFull, subject.name)) return [];
  return [
    findingOf(subject, {
      code: 'SwitchNearlyFull',
      field: 'spec.cidrBlock',
      value: cidrBlock,
      problem: `has more addresses than its logical switch can have ports, and nine tenths of these are in use`,
      rule: `OVN gives keys to ${MOST_PORTS[world.settings.networkType]} ports of a switch, and a pod without one gets no network: create another Subnet for further pods`,
    }),
  ];
}

/** New pods of the namespaces wait: falling back to the default Subnet would be a guess. */
function claimsForJoin(world: World, subject: Subject): readonly Finding[] {
  if (subject.name !== world.settings.joinSubnet) return [];
  const { namespaces = [], namespaceSelectors = [] } = world.ask(subnetSpec, subject.name) ?? {};
  const claims = [
    ...(namespaces.length > 0 ? [['spec.namespaces', namespaces.join(',')] as const] : []),
    ...(namespaceSelectors.length > 0 ? [['spec.namespaceSelectors', JSON.stringify(namespaceSelectors)] as const] : []),
  ];
  return claims.map(([field, value]) =>
    findingOf(subject, {
      code: 'JoinHasNoPods',
      field,
      value,
      problem: 'claims namespaces, and this Subnet is for nodes and has no pods',
      rule: 'new pods of those namespaces wait until the Subnet no longer claims them; running pods stay where they are',
    }),
  );
}

/** A network in the settings counts where the Subnet is missing. One that nobody set requests nothing. */
function ofSettings(world: World, subject: Subject): readonly Finding[] {
  const { settings } = world;
  const built = (
    [
      [settings.joinSubnet, 'node-switch-cidr', 'joinCidr'],
      [settings.defaultSubnet, 'default-cidr', 'defaultCidr'],
    ] as const
  ).find(([name]) => name === subject.name);
  if (built === undefined) return [];
  const [name, flag, setting] = built;
  const { cidrBlock = '' } = world.ask(subnetSpec, name) ?? {};
  const asked = settings[setting];
  if (asked === DEFAULT_SETTINGS[setting] || sameNetworks(asked, cidrBlock)) return [];
  return [
    findingOf(subject, {
      code: 'SettingWithoutEffect',
      field: `--${flag}`,
      value: asked,
      problem: `is not the network of the Subnet, which has ${cidrBlock}`,
      rule: `the setting counts only where the Subnet does not exist: set --${flag}=${cidrBlock}, or change spec.cidrBlock, spec.gateway and spec.excludeIps of the Subnet`,
    }),
  ];
}

function sameNetworks(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) => parseDualCidr(text));
  return one?.ok === true && other?.ok === true && formatDualCidr(one) === formatDualCidr(other);
}

/** Of several to gateway nodes one. */
function routesInEffect(world: World, name: string): readonly Route[] {
  const shared = new Map(world.ask(sharedRoutes, name).map(({ route }) => [route.prefix, route]));
  return [...world.ask(sourceRoutes, name), ...shared.values()];
}

/** Whether a Vpc has `enableBfd`: its other fields do not concern its Subnets. */
const hasBfd: Query<boolean> = defineQuery('vpc-has-bfd', (world, vpc) => world.ask(vpcSpec, vpc)?.enableBfd === true);

function routeShared(world: World, subject: Subject, route: Route): readonly Finding[] {
  const vpc = world.ask(subnetView, subject.name)?.vpc;
  return vpc === undefined ? [] : sharedRoute(world, subject, 'spec.cidrBlock', vpc, route);
}

/** A network without a gateway: its pods reach each other only. */
function notJoined(world: World, subject: Subject): readonly Finding[] {
  const join = world.settings.joinSubnet;
  return world.ask(networksWithoutGateway, subject.name).map((cidr) => {
    const family = cidr.includes(':') ? 'IPv6' : 'IPv4';
    return findingOf(subject, {
      code: 'JoinLacksFamily',
      field: 'spec.cidrBlock',
      value: cidr,
      problem: `has no gateway: Subnet ${join} has no ${family} network`,
      rule: `traffic of pods to nodes and out of the cluster, and of nodes to pods, goes through the nodes' addresses in Subnet ${join}, and none is of that family`,
    });
  });
}

/** A small value: the counts change with every pod, and run nothing else. */
const familiesNeverGiven: Query<readonly (4 | 6)[]> = defineQuery('subnet-families-never-given', (world, name) => {
  const usage = world.usage.get(name);
  if (usage === undefined) return [];
  return familiesOf(world.ask(requestedNetworks, name)).filter((family) => {
    const { available, using } = family === 4 ? usage.v4 : usage.v6;
    if (available > 0n || using > 0n) return false;
    const { foreignPorts = [], nodeAddresses = [] } = usage;
    return !foreignPorts.some((one) => one.family === family) && !nodeAddresses.some(({ address }) => address.family === family);
  });
});

/** Likewise. Each port has an address of each family. */
const isNearlyFull: Query<boolean> = defineQuery('subnet-nearly-full', (world, name) => {
  const usage = world.usage.get(name);
  const most = MOST_PORTS[world.settings.networkType];
  return usage !== undefined && [usage.v4, usage.v6].some(({ using }) => using > most * 0.9);
});

/** Likewise. */
const foreignPortAddresses: Query<readonly ForeignPortAddresses[]> = defineQuery(
  'subnet-foreign-port-addresses',
  (world, name) => world.usage.get(name)?.foreignPorts ?? [],
);
