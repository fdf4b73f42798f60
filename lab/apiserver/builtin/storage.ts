/** Volumes, claims and storage classes: stored with their defaults. No controller here provisions a volume or binds a claim. */
import type { Json, JsonObject } from '../json.ts';
import { at, equal, isObject, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { quantityOf } from '../quantity.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../status.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const RECLAIM = ['Delete', 'Recycle', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
/** Fields of a volume's spec that are not a volume source. */
const NO_SOURCES = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

const NO_CAPACITY: FieldError = {
  type: 'NotSupported',
  field: 'spec.capacity',
  message: 'Unsupported value: core.ResourceList(nil): supported values: "storage"',
};

/** `../volume-protection.ts` removes these finalizers from unused claims and volumes. */
export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection';
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection';

function protect({ metadata }: KubeObject, finalizer: string): void {
  const given = metadata.finalizers ?? [];
  if (!given.includes(finalizer)) metadata.finalizers = [...given, finalizer];
}

function accessModeErrors(spec: JsonObject, missing: string): FieldError[] {
  const modes = list(spec['accessModes']);
  if (modes.length === 0) return [required('spec.accessModes', missing)];
  return modes.filter((mode) => !ACCESS_MODES.includes(text(mode))).map((mode) => notSupported('spec.accessModes', mode, ACCESS_MODES));
}

function positive(amount: Json, field: string): FieldError[] {
  return quantityOf(amount).nano > 0n ? [] : [invalidValue(field, amount, 'must be greater than zero')];
}

export const claims: Strategy = {
  prepareCreate: (claim) => {
    claim['status'] = { phase: 'Pending' };
    protect(claim, CLAIM_PROTECTION);
  },
  applyDefaults: (claim) => {
    const spec = object(claim['spec']);
    claim['spec'] = spec;
    spec['volumeMode'] ??= 'Filesystem';
    spec['resources'] ??= {};
    if (isObject(claim['status'])) claim['status']['phase'] ??= 'Pending';
  },
  validate: (claim, old) => {
    const spec = object(claim['spec']);
    const errors = accessModeErrors(spec, 'at least 1 access mode is required');
    const wanted = at(spec['resources'], 'requests', 'storage');
    if (wanted === undefined) errors.push(required('spec.resources[storage]'));
    else errors.push(...positive(wanted, 'spec.resources[storage]'));
    const isBound = at(old, 'status', 'phase') === 'Bound';
    const growable = (of: JsonObject): JsonObject => ({ ...of, volumeName: null, ...(isBound ? { resources: null } : {}) });
    const before = object(old?.['spec']);
    const bound = old !== undefined && text(before['volumeName']) !== '' && spec['volumeName'] !== before['volumeName'];
    if (old !== undefined && (bound || !equal(growable(spec), growable(before))))
      errors.push(
        forbiddenField('spec', 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'),
      );
    return errors;
  },
};

export const volumes: Strategy = {
  prepareCreate: (volume) => {
    volume['status'] = { phase: 'Pending' };
    protect(volume, VOLUME_PROTECTION);
  },
  applyDefaults: (volume) => {
    const spec = object(volume['spec']);
    volume['spec'] = spec;
    spec['persistentVolumeReclaimPolicy'] ??= 'Retain';
    spec['volumeMode'] ??= 'Filesystem';
    if (isObject(spec['hostPath'])) spec['hostPath']['type'] ??= '';
  },
  validate: (volume, old) => {
    const spec = object(volume['spec']);
    const sources = Object.keys(spec).filter((field) => !NO_SOURCES.has(field));
    const policy = spec['persistentVolumeReclaimPolicy'];
    return [
      ...accessModeErrors(spec, ''),
      ...(Object.keys(object(spec['capacity'])).length === 0 ? [required('spec.capacity'), NO_CAPACITY] : []),
      ...Object.entries(object(spec['capacity'])).flatMap(([name, amount]) => positive(amount, `spec.capacity[${name}]`)),
      ...(RECLAIM.includes(text(policy)) ? [] : [notSupported('spec.persistentVolumeReclaimPolicy', policy, RECLAIM)]),
      ...(sources.length === 0 ? [required('spec', 'must specify a volume type')] : []),
      ...sources.slice(1).map((source) => forbiddenField(`spec.${source}`, 'may not specify more than 1 volume type')),
      ...(old !== undefined && sources.some((source) => !equal(spec[source], at(old, 'spec', source)))
        ? [forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')]
        : []),
    ];
  },
};

export const storageClasses: Strategy = {
  applyDefaults: (item) => {
    item['reclaimPolicy'] ??= 'Delete';
    item['volumeBindingMode'] ??= 'Immediate';
  },
  validate: (item, old) => [
    ...(text(item['provisioner']) === '' ? [required('provisioner')] : []),
    ...(['Delete', 'Retain'].includes(text(item['reclaimPolicy'])) ? [] : [notSupported('reclaimPolicy', item['reclaimPolicy'], RECLAIM)]),
    ...(BINDING_MODES.includes(text(item['volumeBindingMode']))
      ? []
      : [notSupported('volumeBindingMode', item['volumeBindingMode'], BINDING_MODES)]),
    ...(old === undefined
      ? []
      : [
          ...(equal(item['parameters'], old['parameters']) ? [] : [forbiddenField('parameters', 'updates to parameters are forbidden.')]),
          ...(item['provisioner'] === old['provisioner'] ? [] : [forbiddenField('provisioner', 'updates to provisioner are forbidden.')]),
          ...(item['reclaimPolicy'] === old['reclaimPolicy']
            ? []
            : [forbiddenField('reclaimPolicy', 'updates to reclaimPolicy are forbidden.')]),
          ...(item['volumeBindingMode'] === old['volumeBindingMode']
            ? []
            : [invalidValue('volumeBindingMode', item['volumeBindingMode'], 'field is immutable')]),
        ]),
  ],
};
