/** The columns of `kubectl get` for the kinds that are only stored. */
import { ageSince, humanDuration } from '../duration.ts';
import type { Json } from '../json.ts';
import { at, isObject, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Column } from '../resource.ts';
import { asStored, metricTargets } from './autoscaler.ts';
import { AGE, column, count, images, NAME, names, number, path, selector } from './columns.ts';

type Cell = Column['cell'];

const ACCESS: readonly (readonly [mode: string, shown: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

function accessModes(...keys: string[]): Cell {
  return (item) => {
    const modes = list(at(item, ...keys));
    return ACCESS.filter(([mode]) => modes.includes(mode))
      .map(([, shown]) => shown)
      .join(',');
  };
}

function or(placeholder: string, ...keys: string[]): Cell {
  return (item) => {
    const value = at(item, ...keys);
    return value === undefined || value === '' ? placeholder : typeof value === 'string' ? value : String(value);
  };
}

function flag(placeholder: Json, ...keys: string[]): Cell {
  return (item) => {
    const value = at(item, ...keys);
    return typeof value === 'boolean' ? value : placeholder;
  };
}

/** `True`, `False` or `<unset>`, as Go prints an optional boolean. */
function flagText(...keys: string[]): Cell {
  return (item) => {
    const value = at(item, ...keys);
    return typeof value === 'boolean' ? (value ? 'True' : 'False') : '<unset>';
  };
}

function since(...keys: string[]): Cell {
  return (item, now) => (at(item, ...keys) === undefined ? '<none>' : ageSince(at(item, ...keys), now));
}

function template(...keys: string[]): Column[] {
  return [
    column('Containers', 'string', names(...keys, 'spec', 'containers'), 1),
    column('Images', 'string', images(...keys, 'spec', 'containers'), 1),
  ];
}

function jobStatus(job: KubeObject): string {
  const has = (type: string): boolean =>
    list(at(job, 'status', 'conditions')).some((condition) => at(condition, 'type') === type && at(condition, 'status') === 'True');
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(has) ?? 'Running';
}

function completions(job: KubeObject): string {
  const done = String(at(job, 'status', 'succeeded') ?? 0);
  const wanted = at(job, 'spec', 'completions');
  if (wanted !== undefined) return `${done}/${String(wanted)}`;
  const parallel = Number(at(job, 'spec', 'parallelism') ?? 0);
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
}

function jobDuration(job: KubeObject, now: number): string {
  const started = Date.parse(text(at(job, 'status', 'startTime')));
  const ended = Date.parse(text(at(job, 'status', 'completionTime')));
  return Number.isNaN(started) ? '' : humanDuration((Number.isNaN(ended) ? now : ended) - started);
}

function hosts(ingress: KubeObject): string {
  const all = list(at(ingress, 'spec', 'rules'))
    .map((rule) => text(at(rule, 'host')))
    .filter((host) => host !== '');
  if (all.length === 0) return '*';
  return all.length > 3 ? `${all.slice(0, 3).join(',')} + ${all.length - 3} more...` : all.join(',');
}

function ingressAddress(ingress: KubeObject): string {
  return list(at(ingress, 'status', 'loadBalancer', 'ingress'))
    .map((entry) => text(at(entry, 'ip')) || text(at(entry, 'hostname')))
    .join(',');
}

function classParameters(item: KubeObject): string {
  const parameters = at(item, 'spec', 'parameters');
  if (!isObject(parameters)) return '<none>';
  const group = text(parameters['apiGroup']);
  return `${text(parameters['kind'])}${group === '' ? '' : `.${group}`}/${text(parameters['name'])}`;
}

function podLabels(item: KubeObject): string {
  const pairs = Object.entries(object(at(item, 'template', 'metadata', 'labels'))).map(([key, value]) => `${key}=${text(value)}`);
  return pairs.sort().join(',') || '<none>';
}

function claimOf(volume: KubeObject): string {
  const claim = at(volume, 'spec', 'claimRef');
  return isObject(claim) ? `${text(claim['namespace'])}/${text(claim['name'])}` : '';
}

function requestState(request: KubeObject): string {
  const types = list(at(request, 'status', 'conditions')).map((condition) => text(at(condition, 'type')));
  const decided = types.includes('Approved') ? 'Approved' : types.includes('Denied') ? 'Denied' : 'Pending';
  const issued = at(request, 'status', 'certificate') === undefined ? '' : ',Issued';
  return `${decided}${types.includes('Failed') ? ',Failed' : ''}${issued}`;
}

const autoscaled = (cell: Cell): Cell => {
  return (item, now) => cell(asStored(item), now);
};

export const KEPT_COLUMNS = {
  persistentvolumeclaims: [
    NAME,
    column('Status', 'string', (item) =>
      item.metadata.deletionTimestamp === undefined ? text(at(item, 'status', 'phase')) : 'Terminating',
    ),
    column('Volume', 'string', path('spec', 'volumeName')),
    column('Capacity', 'string', (item) =>
      text(at(item, 'spec', 'volumeName')) === '' ? '' : text(at(item, 'status', 'capacity', 'storage')),
    ),
    column('Access Modes', 'string', accessModes('status', 'accessModes')),
    column('StorageClass', 'string', path('spec', 'storageClassName')),
    column('VolumeAttributesClass', 'string', or('<unset>', 'spec', 'volumeAttributesClassName')),
    AGE,
    column('VolumeMode', 'string', or('<unset>', 'spec', 'volumeMode'), 1),
  ],
  persistentvolumes: [
    NAME,
    column('Capacity', 'string', path('spec', 'capacity', 'storage')),
    column('Access Modes', 'string', accessModes('spec', 'accessModes')),
    column('Reclaim Policy', 'string', path('spec', 'persistentVolumeReclaimPolicy')),
    column('Status', 'string', (item) =>
      item.metadata.deletionTimestamp === undefined ? text(at(item, 'status', 'phase')) : 'Terminating',
    ),
    column('Claim', 'string', claimOf),
    column('StorageClass', 'string', path('spec', 'storageClassName')),
    column('VolumeAttributesClass', 'string', or('<unset>', 'spec', 'volumeAttributesClassName')),
    column('Reason', 'string', path('status', 'reason')),
    AGE,
    column('VolumeMode', 'string', or('<unset>', 'spec', 'volumeMode'), 1),
  ],
  podtemplates: [
    NAME,
    column('Containers', 'string', names('template', 'spec', 'containers')),
    column('Images', 'string', images('template', 'spec', 'containers')),
    column('Pod Labels', 'string', podLabels),
  ],
  replicationcontrollers: [
    NAME,
    column('Desired', 'integer', number('spec', 'replicas')),
    column('Current', 'integer', number('status', 'replicas')),
    column('Ready', 'integer', number('status', 'readyReplicas')),
    AGE,
    ...template('spec', 'template'),
    column('Selector', 'string', (item) => labelPairs(at(item, 'spec', 'selector')), 1),
  ],
  jobs: [
    NAME,
    column('Status', 'string', jobStatus),
    column('Completions', 'string', completions),
    column('Duration', 'string', jobDuration),
    AGE,
    ...template('spec', 'template'),
    column('Selector', 'string', selector('spec', 'selector'), 1),
  ],
  cronjobs: [
    NAME,
    column('Schedule', 'string', path('spec', 'schedule')),
    column('Timezone', 'string', or('<none>', 'spec', 'timeZone')),
    column('Suspend', 'boolean', flagText('spec', 'suspend')),
    column('Active', 'integer', count('status', 'active')),
    column('Last Schedule', 'string', since('status', 'lastScheduleTime')),
    AGE,
    ...template('spec', 'jobTemplate', 'spec', 'template'),
    column('Selector', 'string', selector('spec', 'jobTemplate', 'spec', 'selector'), 1),
  ],
  horizontalpodautoscalers: [
    NAME,
    column(
      'Reference',
      'string',
      (item) => `${text(at(item, 'spec', 'scaleTargetRef', 'kind'))}/${text(at(item, 'spec', 'scaleTargetRef', 'name'))}`,
    ),
    column('Targets', 'string', autoscaled(metricTargets)),
    column('MinPods', 'string', or('<unset>', 'spec', 'minReplicas')),
    column('MaxPods', 'integer', number('spec', 'maxReplicas')),
    column('Replicas', 'integer', number('status', 'currentReplicas')),
    AGE,
  ],
  ingresses: [
    NAME,
    column('Class', 'string', or('<none>', 'spec', 'ingressClassName')),
    column('Hosts', 'string', hosts),
    column('Address', 'string', ingressAddress),
    column('Ports', 'string', (item) => (list(at(item, 'spec', 'tls')).length > 0 ? '80, 443' : '80')),
    AGE,
  ],
  ingressclasses: [NAME, column('Controller', 'string', path('spec', 'controller')), column('Parameters', 'string', classParameters), AGE],
  storageclasses: [
    {
      ...NAME,
      cell: (item: KubeObject) => `${item.metadata.name}${item.metadata.annotations?.[DEFAULT_CLASS] === 'true' ? ' (default)' : ''}`,
    },
    column('Provisioner', 'string', path('provisioner')),
    column('ReclaimPolicy', 'string', or('Delete', 'reclaimPolicy')),
    column('VolumeBindingMode', 'string', or('<unset>', 'volumeBindingMode')),
    column('AllowVolumeExpansion', 'string', flag(false, 'allowVolumeExpansion')),
    AGE,
  ],
  csidrivers: [
    NAME,
    column('AttachRequired', 'boolean', flag(true, 'spec', 'attachRequired')),
    column('PodInfoOnMount', 'boolean', flag(false, 'spec', 'podInfoOnMount')),
    column('StorageCapacity', 'boolean', flag(false, 'spec', 'storageCapacity')),
    column(
      'TokenRequests',
      'string',
      (item) =>
        list(at(item, 'spec', 'tokenRequests'))
          .map((entry) => text(at(entry, 'audience')))
          .join(',') || '<unset>',
    ),
    column('RequiresRepublish', 'boolean', flag(false, 'spec', 'requiresRepublish')),
    column(
      'Modes',
      'string',
      (item) =>
        list(at(item, 'spec', 'volumeLifecycleModes'))
          .map(text)
          .join(',') || '<none>',
    ),
    AGE,
  ],
  csinodes: [NAME, column('Drivers', 'integer', count('spec', 'drivers')), AGE],
  volumeattachments: [
    NAME,
    column('Attacher', 'string', path('spec', 'attacher')),
    column('PV', 'string', path('spec', 'source', 'persistentVolumeName')),
    column('Node', 'string', path('spec', 'nodeName')),
    column('Attached', 'boolean', flag(false, 'status', 'attached')),
    AGE,
  ],
  priorityclasses: [
    NAME,
    column('Value', 'integer', number('value')),
    column('Global-Default', 'boolean', flag(false, 'globalDefault')),
    AGE,
    column('PreemptionPolicy', 'string', path('preemptionPolicy')),
  ],
  runtimeclasses: [NAME, column('Handler', 'string', path('handler')), AGE],
  certificatesigningrequests: [
    NAME,
    AGE,
    column('SignerName', 'string', path('spec', 'signerName')),
    column('Requestor', 'string', path('spec', 'username')),
    column('RequestedDuration', 'string', (item) => {
      const seconds = at(item, 'spec', 'expirationSeconds');
      return typeof seconds === 'number' ? humanDuration(seconds * 1000) : '<none>';
    }),
    column('Condition', 'string', requestState),
  ],
  mutatingwebhookconfigurations: [NAME, column('Webhooks', 'integer', count('webhooks')), AGE],
} satisfies Readonly<Record<string, readonly Column[]>>;

function labelPairs(labels: Json | undefined): string {
  const pairs = Object.entries(object(labels)).map(([key, value]) => `${key}=${text(value)}`);
  return pairs.join(',') || '<none>';
}
