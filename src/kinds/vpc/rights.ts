import { DEFAULT_VPC, labelKey } from '../../api/well-known.ts';
import type { KindRights } from '../../webhook/manifests/kind-rights.ts';
import { FINALIZERS, isExternal } from '../../webhook/manifests/kind-rights.ts';
import { all, byOperation, sameFields, sameMetadata, sameObject, text } from '../../webhook/manifests/policy-expressions.ts';

const ROUTE_TEXTS = ['cidr', 'nextHopIP', 'ecmpMode', 'bfdId', 'routeTable'];

/** Each route with its defaults: two lists are equal if they differ only in what Kiln fills in. */
function routes(root: string): string {
  const texts = ROUTE_TEXTS.map((field) => text('r', field)).join(', ');
  return `${root}.spec.?staticRoutes.orValue([]).map(r, [${texts}, ${text('r', 'policy')} == '' ? 'policyDst' : ${text('r', 'policy')}])`;
}

function policies(root: string): string {
  const hop = text('r', 'nextHopIP');
  return `${root}.spec.?policyRoutes.orValue([]).map(r, [dyn(r.?priority.orValue(0)), ${text('r', 'match')}, ${text('r', 'action')}, ${text('r', 'action')} in ['allow', 'drop'] ? '' : ${hop}])`;
}

export const rights: KindRights = {
  verbs: ['create', 'delete'],
  limits: [
    {
      name: 'vpcs',
      resources: { 'kubeovn.io': ['vpcs'] },
      expression: byOperation({
        CREATE: all(
          `object.metadata.name == '${DEFAULT_VPC}' || ${isExternal('object')}`,
          `object.?spec.orValue({}).all(k, k == 'bfdPort')`,
        ),
        DELETE: isExternal('oldObject'),
        UPDATE: all(
          sameObject('metadata', 'spec'),
          sameMetadata('finalizers'),
          FINALIZERS,
          sameFields('object.spec', 'staticRoutes', 'policyRoutes'),
          `${routes('object')} == ${routes('oldObject')}`,
          `${policies('object')} == ${policies('oldObject')}`,
        ),
      }),
      message: `create the default Vpc ${DEFAULT_VPC}, create and delete external Vpcs, and fill in defaults of a Vpc's routes`,
    },
    {
      // Its own policy: a cluster that shows routers of other programs leaves it out.
      name: 'external-vpcs',
      resources: { 'kubeovn.io': ['vpcs', 'subnets'] },
      expression: `request.operation == 'CREATE' ? !(${isExternal('object')}) : request.operation != 'DELETE' || !(${isExternal('oldObject')})`,
      message: `create or delete a Vpc or Subnet with label ${labelKey.vpcExternal} where --enable-external-vpc is set; then: kubectl delete validatingadmissionpolicybinding kiln-controller-external-vpcs`,
    },
  ],
};
