/** The columns of `kubectl get` for the built-in kinds. */
import { ageSince } from '../duration.ts';
import type { Json } from '../json.ts';
import { at, isObject, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Column } from '../resource.ts';
import { podColumns } from './pod-columns.ts';

type Cell = (object: KubeObject, now: number) => Json;

function column(name: string, type: string, cell: Cell, priority = 0): Column {
  return { name, type, priority, cell, ...(name === 'Name' ? { format: 'name' } : {}) };
}

const NAME = column('Name', 'string', (item) => item.metadata.name);
const AGE = column('Age', 'string', (item, now) => ageSince(item.metadata.creationTimestamp, now));

function path(...keys: string[]): Cell {
  return (item) => at(item, ...keys) ?? '';
}

function count(...keys: string[]): Cell {
  return (item) => {
    const value = at(item, ...keys);
    return Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;
  };
}

function number(...keys: string[]): Cell {
  return (item) => at(item, ...keys) ?? 0;
}

function names(...keys: string[]): Cell {
  return (item) =>
    list(at(item, ...keys))
      .map((entry) => text(at(entry, 'name')))
      .join(',');
}

function images(...keys: string[]): Cell {
  return (item) =>
    list(at(item, ...keys))
      .map((entry) => text(at(entry, 'image')))
      .join(',');
}

function selector(...keys: string[]): Cell {
  return (item) => {
    const value = at(item, ...keys);
    const labels =
      isObject(value) && isObject(value['matchLabels'])
        ? value['matchLabels']
        : keys.at(-1) === 'selector' && item.kind === 'Service'
          ? value
          : undefined;
    const pairs = Object.entries(object(labels)).map(([key, label]) => `${key}=${text(label)}`);
    const expressions = list(at(value, 'matchExpressions')).map((entry) => {
      const values = list(at(entry, 'values')).map(text).join(',');
      const operator = text(at(entry, 'operator'));
      const key = text(at(entry, 'key'));
      return operator === 'Exists' ? key : operator === 'DoesNotExist' ? `!${key}` : `${key} ${operator.toLowerCase()} (${values})`;
    });
    return [...pairs, ...expressions].join(',') || '<none>';
  };
}

const WORKLOAD = [
  column('Containers', 'string', names('spec', 'template', 'spec', 'containers'), 1),
  column('Images', 'string', images('spec', 'template', 'spec', 'containers'), 1),
  column('Selector', 'string', selector('spec', 'selector'), 1),
];

function nodeRoles(item: KubeObject): string {
  const roles = Object.keys(item.metadata.labels ?? {})
    .filter((key) => key.startsWith('node-role.kubernetes.io/'))
    .map((key) => key.slice('node-role.kubernetes.io/'.length));
  return roles.sort().join(',') || '<none>';
}

function nodeStatus(item: KubeObject): string {
  const ready = list(at(item, 'status', 'conditions')).find((condition) => at(condition, 'type') === 'Ready');
  const state = ready === undefined ? 'Unknown' : at(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return at(item, 'spec', 'unschedulable') === true ? `${state},SchedulingDisabled` : state;
}

function nodeAddress(type: string): Cell {
  return (item) =>
    text(
      at(
        list(at(item, 'status', 'addresses')).find((address) => at(address, 'type') === type),
        'address',
      ),
    ) || '<none>';
}

function orUnknown(...keys: string[]): Cell {
  return (item) => text(at(item, ...keys)) || '<unknown>';
}

function servicePorts(item: KubeObject): string {
  const ports = list(at(item, 'spec', 'ports')).map((port) => {
    const nodePort = at(port, 'nodePort');
    return `${String(at(port, 'port'))}${nodePort === undefined || nodePort === 0 ? '' : `:${String(nodePort)}`}/${text(at(port, 'protocol'))}`;
  });
  return ports.join(',') || '<none>';
}

function externalIp(item: KubeObject): string {
  const declared = list(at(item, 'spec', 'externalIPs')).map(text);
  const ingress = list(at(item, 'status', 'loadBalancer', 'ingress')).map((entry) => text(at(entry, 'ip')) || text(at(entry, 'hostname')));
  const all = [...ingress, ...declared];
  if (all.length > 0) return all.join(',');
  return at(item, 'spec', 'type') === 'LoadBalancer'
    ? '<pending>'
    : at(item, 'spec', 'type') === 'ExternalName'
      ? text(at(item, 'spec', 'externalName'))
      : '<none>';
}

function endpoints(item: KubeObject): string {
  const all = list(at(item, 'subsets')).flatMap((subset) =>
    list(at(subset, 'addresses')).flatMap((address) => {
      const ports = list(at(subset, 'ports'));
      return ports.length === 0 ? [text(at(address, 'ip'))] : ports.map((port) => `${text(at(address, 'ip'))}:${String(at(port, 'port'))}`);
    }),
  );
  return all.length === 0 ? '<none>' : all.length > 3 ? `${all.slice(0, 3).join(',')} + ${all.length - 3} more...` : all.join(',');
}

function eventObject(item: KubeObject): string {
  const involved = object(at(item, 'involvedObject') ?? at(item, 'regarding'));
  return `${text(involved['kind']).toLowerCase()}/${text(involved['name'])}`;
}

function eventAge(first: boolean): Cell {
  return (item, now) => {
    const time = first
      ? (at(item, 'firstTimestamp') ?? at(item, 'eventTime'))
      : (at(item, 'series', 'lastObservedTime') ?? at(item, 'lastTimestamp') ?? at(item, 'eventTime') ?? at(item, 'firstTimestamp'));
    return ageSince(time ?? item.metadata.creationTimestamp, now);
  };
}

function subjects(kind: string): Cell {
  return (item) =>
    list(at(item, 'subjects'))
      .filter((subject) => at(subject, 'kind') === kind)
      .map((subject) => (kind === 'ServiceAccount' ? `${text(at(subject, 'namespace'))}/` : '') + text(at(subject, 'name')))
      .join(', ');
}

const CREATED = column('Created At', 'date', (item) => item.metadata.creationTimestamp);
const ROLE = column('Role', 'string', (item) => `${text(at(item, 'roleRef', 'kind'))}/${text(at(item, 'roleRef', 'name'))}`);
const BINDING = [
  ROLE,
  AGE,
  column('Users', 'string', subjects('User'), 1),
  column('Groups', 'string', subjects('Group'), 1),
  column('ServiceAccounts', 'string', subjects('ServiceAccount'), 1),
];

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  namespaces: [column('Status', 'string', path('status', 'phase')), AGE],
  pods: podColumns,
  nodes: [
    column('Status', 'string', nodeStatus),
    column('Roles', 'string', nodeRoles),
    AGE,
    column('Version', 'string', path('status', 'nodeInfo', 'kubeletVersion')),
    column('Internal-IP', 'string', nodeAddress('InternalIP'), 1),
    column('External-IP', 'string', nodeAddress('ExternalIP'), 1),
    column('OS-Image', 'string', orUnknown('status', 'nodeInfo', 'osImage'), 1),
    column('Kernel-Version', 'string', orUnknown('status', 'nodeInfo', 'kernelVersion'), 1),
    column('Container-Runtime', 'string', orUnknown('status', 'nodeInfo', 'containerRuntimeVersion'), 1),
  ],
  configmaps: [
    column('Data', 'string', (item) => Object.keys(object(at(item, 'data'))).length + Object.keys(object(at(item, 'binaryData'))).length),
    AGE,
  ],
  secrets: [column('Type', 'string', path('type')), column('Data', 'string', count('data')), AGE],
  services: [
    column('Type', 'string', path('spec', 'type')),
    column('Cluster-IP', 'string', (item) => text(at(item, 'spec', 'clusterIP')) || '<none>'),
    column('External-IP', 'string', externalIp),
    column('Port(s)', 'string', servicePorts),
    AGE,
    column('Selector', 'string', selector('spec', 'selector'), 1),
  ],
  endpoints: [column('Endpoints', 'string', endpoints), AGE],
  serviceaccounts: [column('Secrets', 'string', count('secrets')), AGE],
  leases: [column('Holder', 'string', path('spec', 'holderIdentity')), AGE],
  networkpolicies: [column('Pod-Selector', 'string', selector('spec', 'podSelector')), AGE],
  deployments: [
    column('Ready', 'string', (item) => `${String(at(item, 'status', 'readyReplicas') ?? 0)}/${String(at(item, 'spec', 'replicas') ?? 0)}`),
    column('Up-to-date', 'string', number('status', 'updatedReplicas')),
    column('Available', 'string', number('status', 'availableReplicas')),
    AGE,
    ...WORKLOAD,
  ],
  replicasets: [
    column('Desired', 'integer', number('spec', 'replicas')),
    column('Current', 'integer', number('status', 'replicas')),
    column('Ready', 'integer', number('status', 'readyReplicas')),
    AGE,
    ...WORKLOAD,
  ],
  statefulsets: [
    column('Ready', 'string', (item) => `${String(at(item, 'status', 'readyReplicas') ?? 0)}/${String(at(item, 'spec', 'replicas') ?? 0)}`),
    AGE,
    ...WORKLOAD.slice(0, 2),
  ],
  controllerrevisions: [
    column('Controller', 'string', (item) => {
      const [owner] = (at(item, 'metadata', 'ownerReferences') ?? []) as {
        readonly kind?: string;
        readonly name?: string;
        readonly apiVersion?: string;
      }[];
      const group = owner?.apiVersion?.split('/')[0] ?? '';
      return owner === undefined ? '<none>' : `${(owner.kind ?? '').toLowerCase()}.${group}/${owner.name ?? ''}`;
    }),
    column('Revision', 'integer', number('revision')),
    AGE,
  ],
  daemonsets: [
    column('Desired', 'integer', number('status', 'desiredNumberScheduled')),
    column('Current', 'integer', number('status', 'currentNumberScheduled')),
    column('Ready', 'integer', number('status', 'numberReady')),
    column('Up-to-date', 'integer', number('status', 'updatedNumberScheduled')),
    column('Available', 'integer', number('status', 'numberAvailable')),
    column(
      'Node Selector',
      'string',
      (item) =>
        Object.entries(object(at(item, 'spec', 'template', 'spec', 'nodeSelector')))
          .map(([key, value]) => `${key}=${String(value)}`)
          .sort()
          .join(',') || '<none>',
    ),
    AGE,
    ...WORKLOAD,
  ],
  poddisruptionbudgets: [
    column('Min Available', 'string', (item) => String(at(item, 'spec', 'minAvailable') ?? 'N/A')),
    column('Max Unavailable', 'string', (item) => String(at(item, 'spec', 'maxUnavailable') ?? 'N/A')),
    column('Allowed Disruptions', 'integer', number('status', 'disruptionsAllowed')),
    AGE,
  ],
  endpointslices: [
    column('AddressType', 'string', path('addressType')),
    column(
      'Ports',
      'string',
      (item) =>
        list(at(item, 'ports'))
          .map((port) => String(at(port, 'port')))
          .join(',') || '<unset>',
    ),
    column(
      'Endpoints',
      'string',
      (item) =>
        list(at(item, 'endpoints'))
          .flatMap((endpoint) => list(at(endpoint, 'addresses')).map(text))
          .join(',') || '<unset>',
    ),
    AGE,
  ],
  customresourcedefinitions: [CREATED],
  clusterroles: [CREATED],
  roles: [CREATED],
  clusterrolebindings: BINDING,
  rolebindings: BINDING,
  validatingwebhookconfigurations: [column('Webhooks', 'integer', count('webhooks')), AGE],
  events: [
    column('Last Seen', 'string', eventAge(false)),
    column('Type', 'string', path('type')),
    column('Reason', 'string', path('reason')),
    column('Object', 'string', eventObject),
    column('Subobject', 'string', (item) => at(item, 'involvedObject', 'fieldPath') ?? '', 1),
    column('Source', 'string', (item) => text(at(item, 'source', 'component')) || text(at(item, 'reportingComponent')), 1),
    column('Message', 'string', (item) => text(at(item, 'message') ?? at(item, 'note')).trim()),
    column('First Seen', 'string', eventAge(true), 1),
    column('Count', 'integer', (item) => at(item, 'series', 'count') ?? at(item, 'count') ?? 1, 1),
    column('Name', 'string', (item) => item.metadata.name, 1),
  ],
};

/** Events start with their time; every other table starts with the name. */
export function builtinColumns(table: string): readonly Column[] {
  const own = COLUMNS[table] ?? [AGE];
  return table === 'events' ? own : [NAME, ...own];
}
