import { DEFAULT_SUBNET, DEFAULT_VPC, EXTERNAL_PROVIDER, JOIN_SUBNET, kilnAnnotation } from '../../api/well-known.ts';
import type { KindRights } from '../../webhook/manifests/kind-rights.ts';
import { annotationsOn, FINALIZERS, isExternal, onlyAnnotations } from '../../webhook/manifests/kind-rights.ts';
import { all, byOperation, sameFields, sameMetadata, sameObject, text, texts } from '../../webhook/manifests/policy-expressions.ts';

/** A field that Kiln fills in if it is empty, and never changes otherwise. */
function filledIn(field: string): string {
  const [now, before] = [text('object', `spec.${field}`), text('oldObject', `spec.${field}`)];
  return `${before} == '' || ${now} == ${before}`;
}

const CIDR = [text('object', 'spec.cidrBlock'), text('oldObject', 'spec.cidrBlock')] as const;
const GATEWAY = [text('object', 'spec.gateway'), text('oldObject', 'spec.gateway')] as const;

/** The networks are the same: only host bits are removed, or IPv4 and IPv6 change their order. */
const SAME_NETWORKS = `${CIDR[0]} == ${CIDR[1]} || ${CIDR[0]}.split(',').all(n, ${CIDR[1]}.split(',').exists(o, cidr(o.trim()).masked() == cidr(n)))`;
/** The gateways are the same: only one for a family without a gateway is added. */
const SAME_GATEWAYS =
  `${GATEWAY[0]} == ${GATEWAY[1]} || ${GATEWAY[1]}.trim() == '' || ` +
  `${GATEWAY[0]}.split(',').all(n, ${GATEWAY[1]}.split(',').exists(o, ip(o.trim()) == ip(n)) || ${GATEWAY[1]}.split(',').all(o, ip(o.trim()).family() != ip(n).family()))`;

/** It shows a switch of another program: no network of Kiln is one of these. */
function shows(root: 'object' | 'oldObject'): string {
  return all(isExternal(root), `${text(root, 'spec.provider')} == '${EXTERNAL_PROVIDER}'`);
}

/** What it has of the switch, and its marks, after a person changed either. */
const EXTERNAL_UPDATE = all(
  `${isExternal('oldObject')} || ${text('oldObject', 'spec.provider')} == '${EXTERNAL_PROVIDER}'`,
  shows('object'),
  sameObject('metadata', 'spec'),
  sameMetadata('labels', 'annotations', 'finalizers'),
  FINALIZERS,
  onlyAnnotations(...annotationsOn('Subnet')),
  sameFields(
    'object.spec',
    ...['protocol', 'cidrBlock', 'gateway', 'excludeIps', 'provider', 'vpc', 'namespaces', 'namespaceSelectors'],
    ...['gatewayType', 'default', 'private', 'natOutgoing', 'enableLb'],
  ),
);

export const rights: KindRights = {
  verbs: ['create', 'delete'],
  limits: [
    {
      name: 'subnets',
      resources: { 'kubeovn.io': ['subnets'] },
      expression: byOperation({
        CREATE: `(${all(`object.metadata.name in ${texts([DEFAULT_SUBNET, JOIN_SUBNET])}`, `object.spec.vpc == '${DEFAULT_VPC}'`)}) || (${shows('object')})`,
        DELETE: shows('oldObject'),
        UPDATE: `(${EXTERNAL_UPDATE}) || (${all(
          sameObject('metadata', 'spec'),
          sameMetadata('annotations', 'finalizers'),
          FINALIZERS,
          onlyAnnotations(...annotationsOn('Subnet')),
          sameFields(
            'object.spec',
            'protocol',
            'cidrBlock',
            'gateway',
            'excludeIps',
            'provider',
            'vpc',
            'gatewayType',
            'default',
            'private',
            'natOutgoing',
            'enableLb',
          ),
          ...(['provider', 'vpc', 'gatewayType'] as const).map(filledIn),
          'object.spec.?default.orValue(false) == false || oldObject.spec.?default.orValue(false) == true',
          ...['private', 'natOutgoing'].map((field) => `object.spec.?${field}.orValue(false) == oldObject.spec.?${field}.orValue(false)`),
          SAME_NETWORKS,
          SAME_GATEWAYS,
        )})`,
      }),
      message: `create the Subnets ${DEFAULT_SUBNET} and ${JOIN_SUBNET} of the default Vpc, create, keep and delete Subnets of external Vpcs, fill in defaults of a Subnet's spec, and record its MTU and its accepted spec in annotations ${kilnAnnotation.mtu} and ${kilnAnnotation.acceptedSpec}`,
    },
  ],
};
