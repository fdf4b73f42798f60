/**
 * OvnEip and IptablesEIP: addresses of external networks. Kiln allocates them. `../nat` has the rules that use an OvnEip, and the router port
 * of one of type `lrp`; NAT gateways, which use an IptablesEIP, are not implemented, and each object reports that.
 */
import { iptablesEipFindings, ovnEipFindings } from '../../api/validation/vip-eip-validation.ts';
import type { OvnEip } from '../../api/kinds/ovn-eip.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { addressLabelValue, annotationKey, kilnAnnotation, labelKey } from '../../api/well-known.ts';
import { isTerminating } from '../../api/kubernetes/meta.ts';
import { externalGatewayConfig } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { outOfNetwork } from '../../kinds/ovn-eip/dependencies/out-of-network.ts';
import { iptablesEipAddresses } from '../../kinds/iptables-eip/table/iptables-eip-addresses.ts';
import { ovnEipAddresses } from '../../kinds/ovn-eip/table/ovn-eip-addresses.ts';
import type { AddressObject, AddressTexts } from '../../world/address-objects.ts';
import { keysOf } from '../../engine/domain.ts';
import { blockersOf } from '../../blockers/blockers.ts';
import { eipsOfRule } from '../../blockers/present-eip.ts';
import { configuredPort, vpcOfEip } from '../../world/external-subnets.ts';
import { subnetIntent } from '../../world/intent.ts';
import { natUseOf, natRulesOf } from '../../world/nat-rules.ts';
import { traitsOf } from '../../world/resources.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { commandText } from '../../text/command-text.ts';
import type { GoneCause } from '../cause-gone.ts';
import { causeGone, causeThere } from '../cause-gone.ts';
import type { Rule } from '../rule.ts';
import { nodeExists } from '../node/node-view.ts';
import type { Output, PatchOutput } from '../output.ts';
import { portId } from '../pod/interface/pod-interface.ts';
import { portAddressText } from '../pod/port/pod-port.ts';
import { vpcSpec } from '../vpc/vpc-view.ts';
import { isWithin, subnetView, switchId } from '../subnet/validity/subnet-view.ts';
import { unreadAnnotations } from '../unread-annotations.ts';
import { unimplementedFieldOutputs } from '../unimplemented-fields.ts';
import { nodeChassis } from '../node/node-chassis.ts';
import { hasExternalPort } from '../nat/external-status.ts';
import { inEffect } from '../nat/nat-in-effect.ts';
import { translations } from '../nat/translation.ts';
import { addressOutputs, networkWithout, ownerOf, patchOf } from './address-object.ts';

export const ovnEip: Rule = {
  name: 'ovn-eip',
  over: (world) => keysOf(world.ovnEips),
  run: (world, name) => {
    const observed = world.ovnEips.get(name);
    if (observed === undefined) return [];
    const object = ovnEipAddresses(observed, world.settings);
    const type = object.typeInEffect ?? object.type;
    const uses = usesOf(world, object);
    const vpc = vpcOfEip(world, name, object.subnet);
    const isConnected = type !== 'lrp' || (vpc !== undefined && hasExternalPort(world, vpc, object.subnet));
    // A rule cannot use an address outside of the network that the Subnet has now.
    const ready = isConnected && world.ask(outOfNetwork, name) === '';
    const outputs = addressOutputs(world, object, {
      findings: ovnEipFindings(name, observed.spec),
      ineffective: [
        ...unreadAnnotations({ kind: 'OvnEip', name }, observed.metadata.annotations),
        ...(type === 'lrp' && vpc === undefined ? [unusedPort(name, object.subnet)] : []),
        ...(type === 'lsp' ? unservedPort(world, name) : []),
      ],
      replacedBy: type === 'lrp' && vpc !== undefined ? `Vpc ${vpc}` : undefined,
      avoid: object.held === undefined ? world.ask(translatedElsewhere, object.subnet) : undefined,
      // An OvnEip for a router port or a node port is in use.
      used: uses.count > 0 || type !== 'nat',
      labels: ({ v4, v6 }) => ({
        [labelKey.vpc]: uses.vpc === '' ? null : uses.vpc,
        [labelKey.ovnEipType]: type,
        [labelKey.eipV4]: addressLabelValue(v4),
        [labelKey.eipV6]: addressLabelValue(v6),
      }),
      spec: ({ v4, v6, mac }) => ({ externalSubnet: object.subnet, v4Ip: v4, v6Ip: v6, macAddress: mac, type }),
      // For type `lsp` the node's agent reports readiness.
      status: ({ v4, v6, mac }) => ({ v4Ip: v4, v6Ip: v6, macAddress: mac, type, nat: uses.nat, ...(type !== 'lsp' && { ready }) }),
      rows: (addresses) => (type === 'lsp' ? nodePort(world, object, addresses) : []),
    });
    const report: PatchOutput = {
      ...patchOf(object),
      ...inUse(name, uses),
      annotations: {
        [annotationKey.vpcNat]: uses.last === '' ? null : uses.last,
        ...(vpc !== undefined && isOfKubeOvnsPort(object, type, observed.metadata) && { [kilnAnnotation.portOf]: vpc }),
      },
    };
    if (object.terminating)
      return blockersOf(world, 'ovn-eips', name).count === 0 ? outputs : [...outputs, { ...report, status: { nat: uses.nat } }];
    const madeFor = observed.metadata.annotations?.[kilnAnnotation.portOf];
    // What is being deleted cannot come back with its port: one that rules use stays until they are gone.
    const made = { resource: 'ovn-eips', metadata: observed.metadata } as const;
    const isOutside = world.ask(outOfNetwork, name) !== '';
    if (madeFor === undefined || (madeFor === vpc && !isOutside) || uses.count > 0) return [...outputs, report, causeThere(made)];
    const cause = isOutside ? undefined : requestGone(world, madeFor, object.subnet);
    if (cause !== undefined) return [...outputs, report, causeGone(world, made, cause)];
    return [...outputs, report, { kind: 'delete', resource: 'ovn-eips', key: name, uid: object.uid }];
  },
};

/** What requested the port; undefined if its address is needed for something else. A Vpc ends by its finalizer: that is no absence. */
function requestGone(world: World, vpc: string, subnet: string): GoneCause | undefined {
  const external = world.ask(subnetIntent, subnet);
  if (external === undefined || isTerminating(external) || configuredPort(world, vpc, subnet) !== undefined) return undefined;
  const { defaultVpc, externalSubnet, externalGatewayConfigNamespace: namespace } = world.settings;
  const isConfigured = vpc === defaultVpc && subnet === externalSubnet && world.ask(vpcSpec, vpc)?.enableExternal === undefined;
  if (isConfigured && world.ask(externalGatewayConfig, '') === undefined) return { text: `ConfigMap ${namespace}/ovn-external-gw-config` };
  return { text: `the port of the router of Vpc ${vpc}`, ended: true };
}

/**
 * Whether Kube-OVN gave this OvnEip its address for the port of a router, and its label. Kube-OVN deletes such an OvnEip with the port, whoever
 * made it, and marks none: after a take-over it goes with the port as well. One that a user replaced by a manifest has neither mark nor label.
 */
function isOfKubeOvnsPort({ held }: AddressObject, type: string, { annotations, labels }: OvnEip['metadata']): boolean {
  const isLabelled = labels?.[labelKey.ovnEipType] === 'lrp';
  return type === 'lrp' && held !== undefined && isLabelled && annotations?.[kilnAnnotation.given] === undefined;
}

/** Addresses of a Subnet that rows of other programs, or leftovers of Kube-OVN, translate: no rule could use an OvnEip with one. Sorted. */
const translatedElsewhere: Query<readonly string[]> = defineQuery('addresses-translated-elsewhere', (world, subnet) => {
  const view = world.ask(subnetView, subnet);
  if (view === undefined) return [];
  const isInside = (text: string): boolean => isWithin(view, text.includes(':') ? { v4: '', v6: text } : { v4: text, v6: '' });
  return [...world.rows.foreignTranslations.addresses()].filter(isInside).toSorted();
});

outOfNetwork.define((world, name) => {
  const eip = world.addressObject('ovn-eips', name);
  return eip === undefined ? '' : networkWithout(world, eip);
});

/** Most rules that the condition names. */
const NAMED = 10;

/** The condition that counts and names the rules that use an OvnEip; none while no rule does. */
function inUse(name: string, { count, rules, refused }: Uses): Pick<PatchOutput, 'conditions' | 'withoutConditions'> {
  if (count === 0) return { withoutConditions: ['InUse'] };
  const more = count > NAMED ? ` and ${count - NAMED} more` : '';
  const what = count === 1 ? 'one NAT rule uses' : `${count} NAT rules use`;
  const [first] = refused;
  const named = refused
    .slice(0, NAMED)
    .map(({ text }) => text)
    .join(', ');
  const next = first === undefined ? '' : `; of these not in effect: ${named}; ${commandText`kubectl describe ${first.editable}`}`;
  const message = `OvnEip ${name}: ${what} it: ${rules.slice(0, NAMED).join(', ')}${more}${next}`;
  return { conditions: [{ type: 'InUse', status: 'True', reason: 'UsedByRules', message }] };
}

function unusedPort(name: string, subnet: string): Finding {
  return findingOf(
    { kind: 'OvnEip', name },
    {
      code: 'EipTypeInvalid',
      field: 'spec.type',
      value: 'lrp',
      problem: 'is for the port of a router, and no Vpc requests a port with the name of this OvnEip',
      rule: `such an OvnEip has the name of a Vpc, a hyphen and "${subnet}", and the Vpc has spec.enableExternal`,
    },
  );
}

/** The agent of the node serves it; no label is needed. */
function unservedPort(world: World, name: string): readonly Finding[] {
  const lacking = world.ask(nodeExists, name)
    ? world.ask(nodeChassis, name) === ''
      ? 'the Node of that name has no chassis: no agent runs there, or none has reported yet'
      : ''
    : 'no Node has the name of this OvnEip';
  if (lacking === '') return [];
  const next = world.ask(nodeExists, name) ? commandText`kubectl describe node ${name}` : 'kubectl get nodes';
  return [
    findingOf(
      { kind: 'OvnEip', name },
      {
        code: 'EipTypeInvalid',
        field: 'spec.type',
        value: 'lsp',
        problem: `is for the port of a gateway node, and ${lacking}`,
        rule: `such an OvnEip has the name of the Node whose agent serves it; ${next}`,
      },
    ),
  ];
}

export const iptablesEip: Rule = {
  name: 'iptables-eip',
  over: (world) => keysOf(world.iptablesEips),
  run: (world, name) => {
    const observed = world.iptablesEips.get(name);
    if (observed === undefined) return [];
    const object = iptablesEipAddresses(observed);
    const { natGwDp = '', qosPolicy = '', namespace = '', v6ip = '' } = observed.spec;
    const { nat } = usesOf(world, object);
    const outputs = addressOutputs(world, object, {
      findings: iptablesEipFindings(name, observed.spec),
      ineffective: unreadAnnotations({ kind: 'IptablesEIP', name }, observed.metadata.annotations),
      used: nat !== '',
      labels: ({ v4 }) => ({
        [labelKey.vpcNatGatewayName]: natGwDp,
        [labelKey.eipV4]: v4,
        [labelKey.qos]: qosPolicy === '' ? null : qosPolicy,
      }),
      spec: ({ v4, mac }) => ({ externalSubnet: object.subnet, v4ip: v4, macAddress: mac }),
      status: ({ v4 }) => ({ ip: v4, nat, ...notReadyYet(observed.status) }),
      unimplemented: `${
        natGwDp === '' ? 'spec.natGwDp "" names no VpcNatGateway, and NAT gateways are' : `spec.natGwDp "${natGwDp}" is`
      } not implemented by this version of Kiln: the address is kept, and no NAT gateway is given it`,
      rows: () => [],
    });
    const fields = [
      ...(namespace === '' ? [] : ['spec.namespace']),
      ...(qosPolicy === '' ? [] : ['spec.qosPolicy']),
      ...(v6ip === '' ? [] : ['spec.v6ip']),
    ];
    return object.terminating ? outputs : [...outputs, ...unimplementedFieldOutputs('iptables-eips', name, object.uid, fields)];
  },
};

/** A readiness that another controller reported stays, since its rows and its gateway are unchanged. */
function notReadyYet(status: { readonly ready?: boolean } | undefined): { readonly ready?: boolean } {
  return status?.ready === undefined ? { ready: false } : {};
}

interface Uses {
  /** The kinds of NAT rules that name the EIP and are in effect, in the order of `status.nat`. */
  readonly nat: string;
  readonly count: number;
  /** As kind and name, sorted. */
  readonly rules: readonly string[];
  /** Those of which nothing is in effect: nothing is translated to the address for them. */
  readonly refused: readonly NamedRule[];
  /** Of an OvnEip: the newest rule in effect, and its Vpc; empty for none. */
  readonly last: string;
  readonly vpc: string;
}

interface NamedRule {
  /** Kind and name. */
  readonly text: string;
  /** As kubectl arguments. */
  readonly editable: readonly string[];
  readonly isServed: boolean;
}

function usesOf(world: World, { resource, name }: AddressObject): Uses {
  const used = natRulesOf(resource).flatMap((rules) =>
    [...world.natRules[rules].bucket('eip', name)]
      .filter((rule) => world.ask(eipsOfRule, `${rules}/${rule}`).includes(name))
      .map((rule) => [rules, rule] as const),
  );
  // NAT gateways, and so the rules of IptablesEIPs, are others' to carry out.
  const served = resource === 'ovn-eips' ? used.filter(([rules, rule]) => inEffect(world, `${rules}/${rule}`) !== undefined) : used;
  const named = used.map(([rules, name]): NamedRule => {
    const { kind, plural, group } = traitsOf(rules);
    return {
      text: `${kind} ${name}`,
      editable: [`${plural}.${group}`, name],
      isServed: served.some((one) => one[0] === rules && one[1] === name),
    };
  });
  named.sort((a, b) => (a.text < b.text ? -1 : 1));
  const newest = used
    .flatMap(([rules, rule]) => world.derived(translations).get(`${rules}/${rule}`) ?? [])
    .flatMap(({ age, name, result }) => (result.kind === 'translation' ? [{ age, name, vpc: result.vpc }] : []))
    .reduce((last, one) => (one.age > last.age ? one : last), { age: '', name: '', vpc: '' });
  return {
    last: newest.name,
    vpc: newest.vpc,
    nat: [...new Set(served.map(([rules]) => natUseOf(rules)))].toSorted().join(','),
    count: used.length,
    rules: named.map(({ text }) => text),
    refused: named.filter(({ isServed }) => !isServed),
  };
}

/**
 * A port in the external switch for a gateway node, named like the OvnEip. If its Subnet does not exist, it is only a candidate for the
 * last written contents of the existing port.
 */
function nodePort(world: World, object: AddressObject, addresses: AddressTexts): readonly Output[] {
  const { name, subnet } = object;
  if (world.ask(subnetView, subnet)?.isOvn === false) return [];
  return [
    {
      kind: 'row',
      id: portId(name),
      owner: ownerOf(object),
      rule: 'ovn-eip',
      parent: { id: switchId(subnet), column: 'ports' },
      columns: {
        name,
        type: '',
        addresses: [portAddressText({ subnet, ...addresses })],
        options: {},
        dhcpv4_options: null,
        dhcpv6_options: null,
      },
      externalIds: { ls: subnet },
    },
  ];
}
