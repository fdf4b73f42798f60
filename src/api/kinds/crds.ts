/** The CustomResourceDefinitions of all kinds, generated from their descriptions. */

import { stringify } from 'yaml';
import { bgpConfKind } from './bgp-conf.ts';
import { dnsNameResolverKind } from './dns-name-resolver.ts';
import { evpnConfKind } from './evpn-conf.ts';
import { ipPoolKind } from './ip-pool.ts';
import { ipKind } from './ip.ts';
import { iptablesDnatRuleKind } from './iptables-dnat-rule.ts';
import { iptablesEipKind } from './iptables-eip.ts';
import { iptablesFipRuleKind } from './iptables-fip-rule.ts';
import { iptablesSnatRuleKind } from './iptables-snat-rule.ts';
import { GROUP, VERSION } from '../schema/kind.ts';
import type { Kind, PrinterColumn, Subresources } from '../schema/kind.ts';
import { ovnDnatRuleKind } from './ovn-dnat-rule.ts';
import { ovnEipKind } from './ovn-eip.ts';
import { ovnFipKind } from './ovn-fip.ts';
import { ovnSnatRuleKind } from './ovn-snat-rule.ts';
import { providerNetworkKind } from './provider-network.ts';
import { qosPolicyKind } from './qos-policy.ts';
import { routerLbRuleKind } from './router-lb-rule.ts';
import type { SchemaNode } from '../schema/schema.ts';
import { securityGroupKind } from './security-group.ts';
import { subnetKind } from './subnet.ts';
import { switchLbRuleKind } from './switch-lb-rule.ts';
import { vipKind } from './vip.ts';
import { vlanKind } from './vlan.ts';
import { vpcDnsKind } from './vpc-dns.ts';
import { vpcEgressGatewayKind } from './vpc-egress-gateway.ts';
import { vpcNatGatewayKind } from './vpc-nat-gateway.ts';
import { vpcKind } from './vpc.ts';

/** Every kind of `kubeovn.io/v1`. */
export const allKinds: readonly Kind<unknown, unknown>[] = [
  bgpConfKind,
  dnsNameResolverKind,
  evpnConfKind,
  ipKind,
  ipPoolKind,
  iptablesDnatRuleKind,
  iptablesEipKind,
  iptablesFipRuleKind,
  iptablesSnatRuleKind,
  ovnDnatRuleKind,
  ovnEipKind,
  ovnFipKind,
  ovnSnatRuleKind,
  providerNetworkKind,
  qosPolicyKind,
  routerLbRuleKind,
  securityGroupKind,
  subnetKind,
  switchLbRuleKind,
  vipKind,
  vlanKind,
  vpcKind,
  vpcDnsKind,
  vpcEgressGatewayKind,
  vpcNatGatewayKind,
];

/** A CustomResourceDefinition of `apiextensions.k8s.io/v1`: the fields that ours use. */
export interface Crd {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
    };
    readonly scope: 'Cluster' | 'Namespaced';
    readonly versions: readonly CrdVersion[];
  };
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: SchemaNode };
  readonly subresources?: Subresources;
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
}

/** `cel: false` omits the CEL rules: API servers before 1.25 do not have them, and `kubectl` rejects such fields there. */
export interface CrdOptions {
  readonly cel?: boolean;
}

const withoutCel = (node: SchemaNode): SchemaNode => {
  const { 'x-kubernetes-validations': _rules, ...rest } = node;
  const { properties, items, additionalProperties } = rest;
  return {
    ...rest,
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, withoutCel(v)])) }),
    ...(items && { items: withoutCel(items) }),
    ...(additionalProperties && { additionalProperties: withoutCel(additionalProperties) }),
  };
};

/** The schema of a whole object. */
const objectSchema = (kind: Kind<unknown, unknown>): SchemaNode => ({
  type: 'object',
  description: kind.description,
  ...(kind.specRequired === true && { required: ['spec'] }),
  properties: {
    apiVersion: { type: 'string', description: 'API group and version of the object' },
    kind: { type: 'string', description: 'Kind of the object' },
    metadata: { type: 'object' },
    spec: kind.spec.node,
    ...(kind.status && { status: kind.status.node }),
  },
});

export const crdOf = (kind: Kind<unknown, unknown>, { cel = true }: CrdOptions = {}): Crd => {
  const schema = objectSchema(kind);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        ...(kind.shortNames && { shortNames: kind.shortNames }),
      },
      scope: kind.scope,
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: cel ? schema : withoutCel(schema) },
          ...(kind.subresources && { subresources: kind.subresources }),
          ...(kind.columns && { additionalPrinterColumns: kind.columns }),
        },
      ],
    },
  };
};

export const allCrds = (options: CrdOptions = {}): Crd[] => allKinds.map((kind) => crdOf(kind, options));

/** All CustomResourceDefinitions as one YAML text of several documents, for `kubectl apply` and for a chart. */
export const crdYaml = (options: CrdOptions = {}): string =>
  allCrds(options)
    .map((crd) => `---\n${stringify(crd, { aliasDuplicateObjects: false, lineWidth: 0 })}`)
    .join('');
