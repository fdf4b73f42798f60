/** The checks of a Service's fields, except for the cluster address and the node ports, which the server allocates. */
import type { Json, JsonObject } from '../json.ts';
import { at, list, object, text } from '../json.ts';
import type { FieldError } from '../status.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../status.ts';
import {
  addressErrors,
  hostAddressErrors,
  labelsErrors,
  nameErrors,
  optionalNameErrors,
  parseNetwork,
  portErrors,
  portNumberErrors,
  protocolErrors,
} from './field-rules.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const AFFINITIES = ['ClientIP', 'None'];
const SOURCES = 'spec.LoadBalancerSourceRanges';

export function serviceErrors(spec: JsonObject): FieldError[] {
  const { type, sessionAffinity, externalName, clusterIPs } = spec;
  const ports = list(spec['ports']);
  const isExternal = type === 'ExternalName';
  const errors: FieldError[] = [];
  if (ports.length === 0 && !isExternal && spec['clusterIP'] !== 'None') errors.push(required('spec.ports'));
  if ((type === 'NodePort' || type === 'LoadBalancer') && spec['clusterIP'] === 'None')
    errors.push(invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  if (isExternal) {
    if (text(spec['clusterIP']) !== '' || list(clusterIPs).length > 0)
      errors.push(forbiddenField('spec.clusterIPs', 'may not be set for ExternalName services'));
    errors.push(...nameErrors(externalName, 'spec.externalName', 'subdomain'));
  }
  if (!AFFINITIES.includes(text(sessionAffinity))) errors.push(notSupported('spec.sessionAffinity', sessionAffinity, AFFINITIES));
  if (!TYPES.includes(text(type))) errors.push(notSupported('spec.type', type, TYPES));
  return [
    ...errors,
    ...portsErrors(ports, text(type)),
    ...labelsErrors(spec['selector'], 'spec.selector'),
    ...list(spec['externalIPs']).flatMap((address, index) => {
      const field = `spec.externalIPs[${index}]`;
      return addressErrors(address, field).length > 0 ? addressErrors(address, field) : hostAddressErrors(address, field);
    }),
    ...sourceErrors(list(spec['loadBalancerSourceRanges']), type === 'LoadBalancer'),
    ...list(clusterIPs).flatMap((address, index) =>
      isExternal || address === 'None' || address === '' ? [] : addressErrors(address, `spec.clusterIPs[${index}]`),
    ),
  ];
}

function portsErrors(ports: readonly Json[], type: string): FieldError[] {
  const names = new Set<string>();
  const numbers = new Set<string>();
  const nodePorts = new Set<string>();
  return ports.flatMap((port, index) => {
    const field = `spec.ports[${index}]`;
    const { protocol = '', port: number = 0, targetPort = 0, nodePort = 0 } = object(port);
    const name = text(at(port, 'name'));
    const errors = ports.length > 1 ? nameErrors(name, `${field}.name`) : optionalNameErrors(name, `${field}.name`);
    if (name !== '' && names.has(name)) errors.push(duplicate(`${field}.name`, name));
    errors.push(...portNumberErrors(number, `${field}.port`), ...protocolErrors(protocol, `${field}.protocol`));
    errors.push(...portErrors(targetPort, `${field}.targetPort`));
    if (type === 'ClusterIP' && nodePort !== 0)
      errors.push(forbiddenField(`${field}.nodePort`, "may not be used when `type` is 'ClusterIP'"));
    const [asNumber, asNodePort] = [number, nodePort].map((value) => `${text(protocol)} ${String(value)}`);
    if (numbers.has(asNumber ?? '')) errors.push(duplicate(field, { protocol, port: number }));
    if (nodePort !== 0 && nodePorts.has(asNodePort ?? '')) errors.push(duplicate(`${field}.nodePort`, nodePort));
    names.add(name);
    numbers.add(asNumber ?? '');
    nodePorts.add(asNodePort ?? '');
    return errors;
  });
}

function sourceErrors(ranges: readonly Json[], isBalancer: boolean): FieldError[] {
  if (ranges.length === 0) return [];
  if (!isBalancer) return [forbiddenField(SOURCES, "may only be used when `type` is 'LoadBalancer'")];
  if (ranges.every((range) => parseNetwork(text(range).trim()) !== undefined)) return [];
  const list = `[${ranges.map(text).join(' ')}]`;
  return [invalidValue(SOURCES, list, 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24')];
}
