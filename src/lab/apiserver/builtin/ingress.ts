/** Ingresses and their classes: kept with their defaults. Nobody here serves them. */
import type { Json } from '../json.ts';
import { at, equal, isObject, list, object, text } from '../json.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, notSupported, required } from '../status.ts';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

function pathErrors(path: Json, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = at(path, 'pathType');
  const value = text(at(path, 'path'));
  if (type === undefined) return [required(`${field}.pathType`, 'pathType must be specified')];
  if (!PATH_TYPES.includes(text(type))) errors.push(notSupported(`${field}.pathType`, type, PATH_TYPES));
  if ((type === 'Exact' || type === 'Prefix' || value !== '') && !value.startsWith('/'))
    errors.push(invalidValue(`${field}.path`, value, 'must be an absolute path'));
  return [...errors, ...backendErrors(at(path, 'backend'), `${field}.backend`)];
}

function backendErrors(backend: Json | undefined, field: string): FieldError[] {
  const service = at(backend, 'service');
  const resource = at(backend, 'resource');
  if (service !== undefined && resource !== undefined) return [invalidValue(field, '', 'cannot set both resource and service backends')];
  if (service === undefined) return resource === undefined ? [required(field, 'resource or service backend is required')] : [];
  if (text(at(service, 'name')) === '') return [required(`${field}.service.name`)];
  return at(service, 'port', 'name') === undefined && at(service, 'port', 'number') === undefined
    ? [required(field, 'port name or number is required')]
    : [];
}

export const ingresses: Strategy = {
  prepareCreate: (ingress) => void (ingress['status'] = { loadBalancer: {} }),
  validate: (ingress) => {
    const spec = object(ingress['spec']);
    const rules = list(spec['rules']);
    if (rules.length === 0 && spec['defaultBackend'] === undefined)
      return [
        {
          type: 'Invalid',
          field: 'spec',
          message: 'Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified',
        },
      ];
    return [
      ...(spec['defaultBackend'] === undefined ? [] : backendErrors(spec['defaultBackend'], 'spec.defaultBackend')),
      ...rules.flatMap((rule, index) => {
        const http = at(rule, 'http');
        const field = `spec.rules[${index}].http.paths`;
        const paths = list(at(http, 'paths'));
        if (http === undefined) return [];
        if (paths.length === 0) return [required(field)];
        return paths.flatMap((path, at_) => pathErrors(path, `${field}[${at_}]`));
      }),
    ];
  },
};

export const ingressClasses: Strategy = {
  applyDefaults: (item) => {
    const parameters = at(item, 'spec', 'parameters');
    if (isObject(parameters)) parameters['scope'] ??= 'Cluster';
  },
  validate: (item, old) => {
    const controller = text(at(item, 'spec', 'controller'));
    if (controller === '') return [required('spec.controller')];
    return old !== undefined && !equal(controller, at(old, 'spec', 'controller'))
      ? [invalidValue('spec.controller', controller, 'field is immutable')]
      : [];
  },
};
