/**
 * Draws operations in large numbers: a tenant applied from one file in any order and deleted in any order, pods by the dozen, all objects
 * of a kind edited with one command. No operation waits for the effect of an earlier one.
 */
import { podSpec } from '../../../src/testing/drawn-kind.ts';
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import {
  IP_POOLS,
  IPS,
  NAMESPACE_NAMES,
  NAMESPACES,
  NETWORKS,
  NODE_NAMES,
  objectsOf,
  OVN_EIPS,
  PODS,
  STATEFUL_SETS,
  SUBNETS,
  VIPS,
  VPCS,
} from './objects.ts';
import { operation } from './scenes/steps.ts';
import type { Random } from '../cluster/random.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { ApiPath, Operation, Step } from '../steps/step.ts';

const CROWDS = { apply: 6, remove: 5, pods: 4, 'all-pods': 2, replicas: 3, edits: 2 } as const;

const TENANTS = ['t0', 't1'] as const;
type Tenant = (typeof TENANTS)[number];
const PODS_OF_TENANT = 12;
const PODS_AT_ONCE = 24;

/** Steps in order, most of them with no time between. */
export function drawCrowd(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.weighted(CROWDS)) {
    case 'apply':
      return applied(random, random.pick(TENANTS));
    case 'remove':
      return removed(random, random.pick(TENANTS), cluster);
    case 'pods':
      return podsAtOnce(random);
    case 'all-pods': {
      const namespace = random.pick(NAMESPACE_NAMES);
      const grace = random.chance(0.3) ? { grace: 0 } : {};
      return present(cluster, PODS, namespace).map(({ name }) => operation({ do: 'delete', path: PODS, namespace, name, ...grace }));
    }
    case 'replicas':
      return cluster.lab.store
        .list('statefulsets')
        .map(({ metadata: { name, namespace = '' } }) =>
          operation({ do: 'edit', path: STATEFUL_SETS, namespace, name, patch: { spec: { replicas: random.below(7) } } }),
        );
    case 'edits':
      return editsOfAll(random, cluster);
  }
}

interface Named {
  readonly name: string;
  readonly namespace: string;
}

function present(cluster: SimulatedCluster, path: ApiPath, namespace?: string): readonly Named[] {
  return objectsOf(cluster, path)
    .map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? '' }))
    .filter((one) => namespace === undefined || one.namespace === namespace);
}

function shuffled<T>(random: Random, items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

interface Made {
  readonly path: ApiPath;
  readonly namespace: string;
  readonly object: { readonly metadata: { readonly name: string; readonly namespace?: string } } & JsonObject;
}

function objectsOfTenant(random: Random, tenant: Tenant): readonly Made[] {
  const net = 100 + 10 * TENANTS.indexOf(tenant);
  const [front, back] = [`${tenant}-front`, `${tenant}-back`];
  const made = (path: ApiPath, name: string, rest: JsonObject, namespace = '', metadata: JsonObject = {}): Made => ({
    path,
    namespace,
    object: { ...rest, metadata: { name, ...(namespace === '' ? {} : { namespace }), ...metadata } },
  });
  const labels = { app: tenant };
  const pods = Array.from({ length: PODS_OF_TENANT }, (_, at) => {
    const namespace = at % 2 === 0 ? front : back;
    const annotations: JsonObject = {};
    if (at === 0) annotations['ovn.kubernetes.io/ip_pool'] = `${tenant}-pool`;
    if (at === 1) annotations['ovn.kubernetes.io/ip_address'] = `10.${net}.1.${random.chance(0.8) ? 40 : 2},fd00:${net}::40`;
    if (at === 2) annotations['ovn.kubernetes.io/logical_switch'] = back;
    if (at === 4) annotations['k8s.v1.cni.cncf.io/networks'] = `${front}/${tenant}-net`;
    return made(PODS, `${tenant}-p${at}`, { spec: { ...podSpec(), nodeName: random.pick(NODE_NAMES) } }, namespace, {
      annotations,
      labels,
    });
  });
  return [
    made(NAMESPACES, front, {}),
    made(NAMESPACES, back, {}),
    made(VPCS, tenant, { spec: { staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: `10.${net}.0.254`, policy: 'policyDst' }] } }),
    made(SUBNETS, front, {
      spec: {
        vpc: tenant,
        cidrBlock: `10.${net}.0.0/24`,
        namespaces: [front],
        excludeIps: [`10.${net}.0.250..10.${net}.0.254`],
        acls: [{ action: 'drop', direction: 'to-lport', match: 'ip4.src==10.8.0.0/16', priority: 1001 }],
      },
    }),
    made(SUBNETS, back, {
      spec: {
        vpc: tenant,
        cidrBlock: `10.${net}.1.0/${random.chance(0.8) ? 24 : 29},fd00:${net}::/120`,
        namespaces: [back],
        enableDHCP: random.chance(0.3),
        private: random.chance(0.3),
      },
    }),
    made(SUBNETS, `${tenant}-net`, { spec: { vpc: tenant, cidrBlock: `10.${net}.2.0/28`, provider: `${tenant}-net.${front}.ovn` } }),
    made(IP_POOLS, `${tenant}-pool`, { spec: { subnet: front, ips: [`10.${net}.0.16..10.${net}.0.19`] } }),
    made(VIPS, `${tenant}-vip`, { spec: { subnet: front } }),
    made(OVN_EIPS, `${tenant}-eip`, { spec: { externalSubnet: back } }),
    made(IPS, `${tenant}-kept.${front}`, { spec: { subnet: front, podName: `${tenant}-kept`, namespace: front, podType: '' } }),
    made(NETWORKS, `${tenant}-net`, { spec: { config: '{"cniVersion":"0.3.0","type":"kube-ovn"}' } }, front),
    made(
      STATEFUL_SETS,
      `${tenant}-web`,
      {
        spec: { replicas: 3, serviceName: tenant, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } },
      },
      front,
    ),
    ...pods,
  ];
}

/** Like `kubectl apply -f`. Mostly with the Namespaces first: the server rejects an object that comes before its Namespace. */
function applied(random: Random, tenant: Tenant): readonly Step[] {
  const all = shuffled(random, objectsOfTenant(random, tenant));
  const first = random.chance(0.85) ? all.filter(({ path }) => path === NAMESPACES) : [];
  return [...first, ...all.filter((one) => !first.includes(one))].map((made) => operation({ do: 'create', ...made }));
}

/** Like `kubectl delete -f`, in the order of the file; some finalizers are removed by hand between. */
function removed(random: Random, tenant: Tenant, cluster: SimulatedCluster): readonly Step[] {
  const made = shuffled(random, objectsOfTenant(random, tenant));
  const first = random.pick<readonly ApiPath[]>([
    [],
    [VPCS],
    [SUBNETS, PODS],
    [NAMESPACES],
    [PODS, STATEFUL_SETS, VIPS, OVN_EIPS, IPS, IP_POOLS],
  ]);
  const ordered = [...made.filter(({ path }) => first.includes(path)), ...made.filter(({ path }) => !first.includes(path))];
  const impatient = random.chance(0.25);
  const extra = random.chance(0.3) ? present(cluster, IPS).filter(({ name }) => name.includes(tenant)) : [];
  return [
    ...ordered.flatMap(({ path, object: { metadata } }): readonly Step[] => {
      const where = { path, namespace: metadata.namespace ?? '', name: metadata.name };
      const gone: Operation = { do: 'delete', ...where, ...(path === PODS && random.chance(0.2) ? { grace: 0 } : {}) };
      if (!impatient || path === NAMESPACES || random.chance(0.8)) return [operation(gone)];
      return [operation(gone), operation({ do: 'remove-finalizers', ...where })];
    }),
    ...extra.map(({ name }) => operation({ do: 'delete', path: IPS, namespace: '', name })),
  ];
}

/** Like a Deployment that is scaled or deleted: names are used again. */
function podsAtOnce(random: Random): readonly Step[] {
  const namespace = random.pick([...NAMESPACE_NAMES, 't0-front', 't1-back']);
  const away = random.chance(0.4);
  return Array.from({ length: 6 + random.below(PODS_AT_ONCE - 6) }, () => {
    const name = `c${random.below(PODS_AT_ONCE)}`;
    if (away) return operation({ do: 'delete', path: PODS, namespace, name });
    const object = { metadata: { name, namespace, labels: { app: 'crowd' } }, spec: { ...podSpec(), nodeName: random.pick(NODE_NAMES) } };
    return operation({ do: 'create', path: PODS, namespace, object });
  });
}

/** Like `kubectl label --all`, or `kubectl patch` in a loop. */
function editsOfAll(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const [path, patch] = random.pick<readonly [ApiPath, JsonObject]>([
    [PODS, { metadata: { labels: { wave: random.pick(['1', '2']) } } }],
    [PODS, { metadata: { annotations: { 'ovn.kubernetes.io/allocated': null } } }],
    [SUBNETS, { spec: { private: random.chance(0.5) } }],
    [SUBNETS, { spec: { enableDHCP: random.chance(0.5) } }],
    [NAMESPACES, { metadata: { labels: { team: random.pick(['a', 'b', 'c']) } } }],
    [VPCS, { spec: { staticRoutes: null } }],
  ]);
  return present(cluster, path).map((where) => operation({ do: 'edit', path, ...where, patch }));
}
