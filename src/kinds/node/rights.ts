import { EXTERNAL_GATEWAY_CONFIG, kilnAnnotation, labelKey } from '../../api/well-known.ts';
import type { KindRights } from '../../webhook/manifests/kind-rights.ts';
import { annotationsOn, CONDITIONS_KEPT_IN, ofOvn, onlyAnnotations } from '../../webhook/manifests/kind-rights.ts';
import { all, byOperation, onlyKeys, sameMetadata, sameObject } from '../../webhook/manifests/policy-expressions.ts';

const LABEL = labelKey.externalGateway;
const MARK = kilnAnnotation.gatewayOf;
const label = (root: 'object' | 'oldObject'): string => `${root}.metadata.?labels[?'${LABEL}'].orValue('')`;
const mark = (root: 'object' | 'oldObject'): string => `${root}.metadata.?annotations[?'${MARK}'].orValue('')`;

/** Kiln makes gateway nodes and takes back what it made: a node that a user labelled is neither marked nor does it lose its label. */
const GATEWAY_NODES = all(
  `${mark('object')} == ${mark('oldObject')} || ${mark('object')} == '' || (${label('oldObject')} != 'true' && ${mark('object')} == '${EXTERNAL_GATEWAY_CONFIG}')`,
  `${label('object')} == ${label('oldObject')} || (${label('object')} == 'true' ? ${mark('object')} != '' : ${label('object')} == '' && ${mark('oldObject')} != '')`,
);

export const rights: KindRights = {
  limits: [
    {
      name: 'nodes',
      resources: { '': ['nodes'] },
      expression: byOperation({
        UPDATE: all(
          sameObject('metadata'),
          sameMetadata('annotations', 'labels'),
          onlyKeys('object.metadata.labels', `k == '${LABEL}'`),
          GATEWAY_NODES,
          onlyAnnotations(
            ...(['allocated', 'ip_address', 'mac_address', 'cidr', 'gateway', 'logical_switch'] as const).map(ofOvn),
            ...annotationsOn('Node'),
            CONDITIONS_KEPT_IN,
          ),
        ),
      }),
      message:
        "change a Node's annotations about its port in the join Subnet, make it a gateway node, and take back the label of one that it made; and nothing else of a Node",
    },
  ],
};
