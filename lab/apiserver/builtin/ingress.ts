/** Ingresses and IngressClasses: stored with their defaults. No controller here serves them. */
import { isIP } from 'node:net';
import type { Json } from '../json.ts';
import { at, equal, isObject, list, object, text } from '../json.ts';
import { nameProblem } from '../object-meta.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, notSupported, required } from '../status.ts';
import { nameErrors, portNameErrors, portNumberErrors } from './field-rules.ts';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

const WILDCARD_RULE =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** A DNS name whose first label may be a wildcard. */
function hostErrors(host: string, field: string): FieldError[] {
  if (host === '') return [];
  const errors = isIP(host) === 0 ? [] : [invalidValue(field, host, 'must be a DNS name, not an IP address')];
  if (!host.includes('*')) return [...errors, ...nameErrors(host, field, 'subdomain')];
  return host.startsWith('*.') && nameErrors(host.slice(2), field, 'subdomain').length === 0
    ? errors
    : [...errors, invalidValue(field, host, WILDCARD_RULE)];
}

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
  const name = text(at(service, 'name'));
  const problem = nameProblem(name, 'service');
  const [portName, portNumber] = [text(at(service, 'port', 'name')), at(service, 'port', 'number') ?? 0];
  return [
    ...(name === ''
      ? [required(`${field}.service.name`)]
      : problem === undefined
        ? []
        : [invalidValue(`${field}.service.name`, name, problem)]),
    ...(portName !== '' && portNumber !== 0
      ? [invalidValue(field, '', 'cannot set both port name & port number')]
      : portName !== ''
        ? portNameErrors(portName, `${field}.service.port.name`)
        : portNumber !== 0
          ? portNumberErrors(portNumber, `${field}.service.port.number`)
          : [required(field, 'port name or number is required')]),
  ];
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
        const errors = hostErrors(text(at(rule, 'host')), `spec.rules[${index}].host`);
        if (http === undefined) return errors;
        if (paths.length === 0) return [...errors, required(field)];
        return [...errors, ...paths.flatMap((path, at_) => pathErrors(path, `${field}[${at_}]`))];
      }),
      ...list(spec['tls']).flatMap((tls, index) =>
        list(at(tls, 'hosts')).flatMap((host, at_) => hostErrors(text(host), `spec.tls[${index}].hosts[${at_}]`)),
      ),
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
