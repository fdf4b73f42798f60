/** Kinds about the cluster itself: ComponentStatuses and APIServices. */
import type { Json, JsonObject } from '../json.ts';
import { at, isObject, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Column, ResourceDefinition, Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, required } from '../status.ts';
import { AGE, column, NAME } from './columns.ts';
import { define } from './define.ts';

const MOST_OF_GROUP = 20_000;
const MOST_OF_VERSION = 1_000;
const HTTPS = 443;

/** The laboratory replaces these components, so they are healthy while it runs. */
const COMPONENTS: readonly (readonly [name: string, message: string])[] = [
  ['controller-manager', 'ok'],
  ['scheduler', 'ok'],
  ['etcd-0', 'ok'],
];

function componentStatuses(): KubeObject[] {
  return COMPONENTS.map(([name, message]) => ({
    ...{ kind: 'ComponentStatus', apiVersion: 'v1' },
    // These objects are not stored: they have no uid, resourceVersion or creation time.
    metadata: { name } as unknown as KubeObject['metadata'],
    conditions: [{ type: 'Healthy', status: 'True', message }],
  }));
}

function conditionOf(conditions: Json | undefined, type: string): JsonObject {
  return object(list(conditions).find((condition) => at(condition, 'type') === type));
}

const STATUS_COLUMNS: readonly Column[] = [
  NAME,
  column('Status', 'string', (item) => {
    const { status } = conditionOf(item['conditions'], 'Healthy');
    return status === 'True' ? 'Healthy' : status === 'False' ? 'Unhealthy' : 'Unknown';
  }),
  column('Message', 'string', (item) => text(conditionOf(item['conditions'], 'Healthy')['message'])),
  column('Error', 'string', (item) => text(conditionOf(item['conditions'], 'Healthy')['error'])),
];

function withinErrors(value: unknown, field: string, most: number): FieldError[] {
  const number = Number(value);
  return number > 0 && number <= most ? [] : [invalidValue(field, number, `must be positive and less than ${most}`)];
}

const apiServices: Strategy = {
  nameRule: 'path',
  prepareCreate: (item) => void (item['status'] = {}),
  applyDefaults: (item) => {
    const spec = object(item['spec']);
    const { service } = spec;
    if (isObject(service)) service['port'] ??= HTTPS;
    spec['groupPriorityMinimum'] ??= 0;
    spec['versionPriority'] ??= 0;
    item['spec'] = spec;
  },
  validate: (item) => {
    const spec = object(item['spec']);
    const [group, version] = [text(spec['group']), text(spec['version'])];
    const name = `${version}.${group}`;
    const { service } = spec;
    return [
      ...(item.metadata.name === name
        ? []
        : [invalidValue('metadata.name', item.metadata.name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(name)}`)]),
      ...(group === '' && version !== 'v1' ? [required('spec.group', 'only v1 may have an empty group and it better be legacy kube')] : []),
      ...withinErrors(spec['groupPriorityMinimum'], 'spec.groupPriorityMinimum', MOST_OF_GROUP),
      ...withinErrors(spec['versionPriority'], 'spec.versionPriority', MOST_OF_VERSION),
      ...(isObject(service)
        ? ['namespace', 'name'].filter((field) => text(service[field]) === '').map((field) => required(`spec.service.${field}`))
        : []),
    ];
  },
};

const SERVICE_COLUMNS: readonly Column[] = [
  NAME,
  column('Service', 'string', (item) => {
    const service = at(item, 'spec', 'service');
    return isObject(service) ? `${text(service['namespace'])}/${text(service['name'])}` : 'Local';
  }),
  column('Available', 'string', (item) => {
    const { status, reason } = conditionOf(at(item, 'status', 'conditions'), 'Available');
    return status === undefined ? 'Unknown' : status === 'True' ? 'True' : `${text(status)} (${text(reason)})`;
  }),
  AGE,
];

export function clusterServiceResources(): ResourceDefinition[] {
  return [
    define('', 'v1', 'componentstatuses', 'ComponentStatus', false, {
      shortNames: ['cs'],
      verbs: ['get', 'list'],
      columns: STATUS_COLUMNS,
      made: componentStatuses,
      deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
    }),
    define('apiregistration.k8s.io', 'v1', 'apiservices', 'APIService', false, {
      categories: ['api-extensions'],
      hasStatus: true,
      columns: SERVICE_COLUMNS,
      strategy: apiServices,
    }),
  ];
}
