/** The checks of a container's environment: names, and sources of values. */
import type { JsonObject } from '../json.ts';
import { list, object, text } from '../json.ts';
import { labelKeyProblems, nameProblem } from '../object-meta.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, notSupported, required } from '../status.ts';
import { CONFIG_KEY, CONFIG_KEY_RULE } from './data.ts';

const VARIABLE = /^[ -<>-~]+$/;
const VARIABLE_RULE = "a valid environment variable name must consist only of printable ASCII characters other than '='";
const FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** Field selectors of pods support these fields, environment variables do not. */
const ONLY_SELECTED = ['metadata.annotations', 'metadata.labels', 'spec.restartPolicy', 'spec.schedulerName', 'status.phase'];
/** The former name of `spec.nodeName`, which a server still accepts. */
const FORMER = 'spec.host';
const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const HUGE_PAGES = /^(?:limits|requests)\.hugepages-/;

export function environmentErrors({ env, envFrom }: JsonObject, field: string): FieldError[] {
  return [
    ...list(env).flatMap((variable, index) => variableErrors(object(variable), `${field}.env[${index}]`)),
    ...list(envFrom).flatMap((source, index) => allOfErrors(object(source), `${field}.envFrom`, `${field}.envFrom[${index}]`)),
  ];
}

function variableErrors({ name, value, valueFrom }: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (text(name) === '') errors.push(required(`${field}.name`));
  else if (!VARIABLE.test(text(name))) errors.push(invalidValue(`${field}.name`, name, VARIABLE_RULE));
  if (valueFrom === undefined) return errors;
  const sources = Object.keys(object(valueFrom)).length;
  const problem =
    sources === 0
      ? 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'
      : text(value) !== ''
        ? 'may not be specified when `value` is not empty'
        : sources > 1
          ? 'may not have more than one field specified at a time'
          : undefined;
  errors.push(...sourceErrors(object(valueFrom), `${field}.valueFrom`));
  return problem === undefined ? errors : [...errors, invalidValue(`${field}.valueFrom`, '', problem)];
}

/**
 * `envFrom`: all keys of a ConfigMap or a Secret. Like a real server, an error about a missing source names the list `whole`, not the
 * index.
 */
function allOfErrors(source: JsonObject, whole: string, field: string): FieldError[] {
  const prefix = text(source['prefix']);
  const from = ['configMapRef', 'secretRef'].filter((one) => source[one] !== undefined);
  return [
    ...(prefix === '' || VARIABLE.test(prefix) ? [] : [invalidValue(`${field}.prefix`, prefix, VARIABLE_RULE)]),
    ...from.flatMap((one) => (text(object(source[one])['name']) === '' ? [required(`${field}.${one}.name`)] : [])),
    ...(from.length === 0 ? [invalidValue(whole, '', 'must specify one of: `configMapRef` or `secretRef`')] : []),
    ...(from.length > 1 ? [invalidValue(whole, '', 'may not have more than one field specified at a time')] : []),
  ];
}

function sourceErrors({ fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef }: JsonObject, field: string): FieldError[] {
  return [
    ...(fieldRef === undefined ? [] : fieldErrors(text(object(fieldRef)['fieldPath']), `${field}.fieldRef`)),
    ...(resourceFieldRef === undefined ? [] : resourceErrors(object(resourceFieldRef), `${field}.resourceFieldRef`)),
    ...(configMapKeyRef === undefined ? [] : keyErrors(object(configMapKeyRef), `${field}.configMapKeyRef`)),
    ...(secretKeyRef === undefined ? [] : keyErrors(object(secretKeyRef), `${field}.secretKeyRef`)),
  ];
}

function fieldErrors(path: string, field: string): FieldError[] {
  const at = `${field}.fieldPath`;
  if (path === '') return [required(at)];
  const [, map, key] = /^(.+)\['(.*)'\]$/s.exec(path) ?? [];
  const unconverted = (why: string): FieldError[] => [invalidValue(at, path, `error converting fieldPath: ${why}: ${path}`)];
  if (map !== undefined && key !== undefined) {
    if (map === 'metadata.annotations') return keyProblems(key.toLowerCase(), key, field);
    if (map === 'metadata.labels') return keyProblems(key, key, field);
    return unconverted('field label does not support subscript');
  }
  if (FIELDS.includes(path) || path === FORMER) return [];
  return ONLY_SELECTED.includes(path) ? [notSupported(at, path, FIELDS)] : unconverted('field label not supported');
}

function keyProblems(text: string, key: string, field: string): FieldError[] {
  return labelKeyProblems(text).map((problem) => invalidValue(field, key, problem));
}

function resourceErrors({ resource }: JsonObject, field: string): FieldError[] {
  const name = text(resource);
  if (name === '') return [required(`${field}.resource`)];
  return RESOURCES.includes(name) || HUGE_PAGES.test(name) ? [] : [notSupported(`${field}.resource`, name, RESOURCES)];
}

function keyErrors({ name, key }: JsonObject, field: string): FieldError[] {
  const problem = nameProblem(text(name), 'subdomain');
  const named = problem === undefined ? [] : [invalidValue(`${field}.name`, text(name), problem)];
  if (text(key) === '') return [...named, required(`${field}.key`)];
  return CONFIG_KEY.test(text(key)) ? named : [...named, invalidValue(`${field}.key`, text(key), CONFIG_KEY_RULE)];
}
