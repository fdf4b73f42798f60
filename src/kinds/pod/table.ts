/** Pods: of a pod only what rules read is kept. */
import type { Container, Pod, PodSpec } from '../../api/kubernetes/core.ts';
import { launchedInstance } from '../../api/kubernetes/virtual-machine.ts';
import { vipNames } from '../../api/pod/annotation-limits.ts';
import { annotationKey, POD_CONDITIONS, podAnnotation } from '../../api/well-known.ts';
import { splitList } from '../../net/dual.ts';
import { allocatedSubnets, furtherAddressSubnets, portVipAddresses } from '../../world/allocated-subnets.ts';
import { Interner } from '../../engine/interner.ts';
import { kindTable } from '../../world/kind-table.ts';
import { internLabels, labelSetOf } from '../../world/label-set.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { NETWORK_KEYS, trimMeta } from '../../world/trim.ts';

export const table = kindTable<Pod>({
  trim,
  indexes: () => ({
    namespace: (pod) => [pod.metadata.namespace ?? ''],
    node: (pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]),
    /** `namespace/name` of the virtual machine instance that it runs. */
    instance: ({ metadata }) => {
      const instance = launchedInstance(metadata);
      return instance === undefined ? [] : [`${metadata.namespace ?? ''}/${instance.name}`];
    },
    /** Vips that the pod requests the address of. */
    vip: ({ metadata }) => vipNames(metadata.annotations?.[annotationKey.vip] ?? ''),
    /** Vips of further addresses that its ports may use. */
    allowedPair: ({ metadata }) => vipNames(metadata.annotations?.[annotationKey.allowedAddressPairs] ?? ''),
    /** Further addresses that its ports may send from. */
    portVip: ({ metadata }) => portVipAddresses(metadata.annotations ?? {}),
    /** `subnet`, line end, `node`: where it may send from further addresses, if its annotations are right. */
    furtherAt: (pod) => furtherAddressSubnets(pod),
    /** Its addresses, where Kube-OVN translated them by annotation. */
    translates: ({ metadata: { annotations = {} } }) =>
      (annotations[annotationKey.podEip] ?? annotations[annotationKey.podSnat]) === undefined
        ? []
        : splitList(annotations[podAnnotation('ovn', 'ip_address')] ?? ''),
    /** Subnets of its addresses, as its annotations claim; `provider/<provider>` for an interface without a Subnet in its annotations. */
    allocated: ({ metadata }) => allocatedSubnets(metadata.annotations ?? {}),
  }),
  names: ({ metadata, spec }) => [
    ['namespaces', metadata.namespace],
    ['nodes', spec?.nodeName],
  ],
  lazy: {
    /** Name of the label set. */
    labelSet: ({ metadata }) => [labelSetOf(metadata.namespace ?? '', metadata.labels)],
  },
});

function trim(object: Untrimmed): Pod {
  const { labels, ...rest } = trimMeta(object.metadata, (key) => NETWORK_KEYS.test(key));
  // Selectors of Vips and policies are matched with them.
  const metadata = labels === undefined ? rest : { ...rest, labels: internLabels(labels) };
  const pod = object as Pod;
  const containers = withNamedPorts(pod.spec);
  const { nodeName, hostNetwork, restartPolicy, terminationGracePeriodSeconds } = pod.spec;
  const { phase, reason, conditions } = pod.status ?? {};
  const own = conditions?.filter(({ type }) => POD_CONDITIONS.includes(type)) ?? [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      ...(nodeName === undefined || nodeName === '' ? {} : { nodeName }),
      ...(hostNetwork === true ? { hostNetwork } : {}),
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
      ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }),
      ...(containers === undefined ? {} : { containers }),
    },
    status: {
      ...(phase === undefined ? {} : { phase }),
      ...(reason === undefined ? {} : { reason }),
      ...(own.length === 0 ? {} : { conditions: own }),
    },
  };
}

/**
 * Containers with named ports, and of these only the ports: Services and policies name them. An init container that keeps running counts as
 * a container.
 */
function withNamedPorts({ containers = [], initContainers = [] }: PodSpec): readonly Container[] | undefined {
  const running = [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')];
  const named = running.flatMap(({ name, ports = [] }): readonly Container[] => {
    const kept = ports.flatMap(({ name: port = '', containerPort, protocol }) =>
      port === '' ? [] : [{ name: port, containerPort, ...(protocol !== undefined && { protocol }) }],
    );
    return kept.length === 0 ? [] : [{ name, ports: kept }];
  });
  return named.length === 0 ? undefined : containerLists.intern(JSON.stringify(named), named);
}

const containerLists = new Interner<readonly Container[]>();
