/** Endpoints and EndpointSlices: the default protocol, and the checks of their addresses and ports. */
import { isIP } from 'node:net';
import type { Json } from '../json.ts';
import { at, isObject, list, text } from '../json.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, notSupported, required } from '../status.ts';
import { addressErrors, hostAddressErrors, nameErrors, optionalNameErrors, portNumberErrors, protocolErrors } from './field-rules.ts';

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];

function defaultPorts(ports: readonly Json[]): void {
  for (const port of ports) if (isObject(port)) port['protocol'] ??= 'TCP';
}

function endpointErrors(endpoint: Json, field: string): FieldError[] {
  const address = at(endpoint, 'ip');
  return [
    ...addressErrors(address, `${field}.ip`),
    ...optionalNameErrors(at(endpoint, 'hostname'), `${field}.hostname`),
    // A real server reports an invalid address twice, with two messages.
    ...(isIP(text(address)) === 0
      ? [invalidValue(`${field}.ip`, text(address), 'must be a valid IP address')]
      : hostAddressErrors(address, `${field}.ip`)),
  ];
}

function subsetErrors(subset: Json, field: string): FieldError[] {
  const ready = list(at(subset, 'addresses'));
  const notReady = list(at(subset, 'notReadyAddresses'));
  const ports = list(at(subset, 'ports'));
  return [
    ...(ready.length + notReady.length === 0 ? [required(field, 'must specify `addresses` or `notReadyAddresses`')] : []),
    ...ready.flatMap((endpoint, index) => endpointErrors(endpoint, `${field}.addresses[${index}]`)),
    ...notReady.flatMap((endpoint, index) => endpointErrors(endpoint, `${field}.notReadyAddresses[${index}]`)),
    ...ports.flatMap((port, index) => {
      const here = `${field}.ports[${index}]`;
      return [
        ...(ports.length > 1 ? nameErrors(at(port, 'name'), `${here}.name`) : optionalNameErrors(at(port, 'name'), `${here}.name`)),
        ...portNumberErrors(at(port, 'port'), `${here}.port`),
        ...protocolErrors(at(port, 'protocol'), `${here}.protocol`),
      ];
    }),
  ];
}

export const endpoints: Strategy = {
  applyDefaults: (item) => defaultPorts(list(item['subsets']).flatMap((subset) => list(at(subset, 'ports')))),
  validate: (item) => list(item['subsets']).flatMap((subset, index) => subsetErrors(subset, `subsets[${index}]`)),
};

export const endpointSlices: Strategy = {
  applyDefaults: (item) => {
    const ports = list(item['ports']);
    // Clients that print a slice expect a name on each port, even an empty one.
    for (const port of ports) if (isObject(port)) port['name'] ??= '';
    defaultPorts(ports);
  },
  validate: (item) => [
    ...(ADDRESS_TYPES.includes(text(item['addressType'])) ? [] : [notSupported('addressType', item['addressType'], ADDRESS_TYPES)]),
    ...list(item['endpoints']).flatMap((endpoint, index) =>
      list(at(endpoint, 'addresses')).length === 0 ? [required(`endpoints[${index}].addresses`, 'must contain at least 1 address')] : [],
    ),
  ],
};
