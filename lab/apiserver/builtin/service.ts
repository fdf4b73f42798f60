/** Services: defaults, and a cluster address and node ports from the usual ranges. */
import { isIPv4 } from 'node:net';
import type { Json, JsonObject } from '../json.ts';
import { at, isObject, list, object, text } from '../json.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue } from '../status.ts';
import type { ObjectStore } from '../store.ts';
import { serviceErrors } from './service-rules.ts';

const FIRST_ADDRESS = (10 << 24) + (96 << 16) + 1;
const ADDRESSES = 2 ** 20 - 2;
const FIRST_NODE_PORT = 30_000;
const NODE_PORTS = 2768;

function freeAddress(store: ObjectStore): string {
  const taken = new Set(store.list('services').map((service) => text(at(service, 'spec', 'clusterIP'))));
  for (let offset = 0; offset < ADDRESSES; offset++) {
    const number = FIRST_ADDRESS + offset;
    const address = [24, 16, 8, 0].map((shift) => (number >> shift) & 255).join('.');
    if (!taken.has(address)) return address;
  }
  return 'None';
}

function takenNodePorts(store: ObjectStore): Set<Json | undefined> {
  return new Set(
    store
      .list('services')
      .flatMap(({ spec }) => [at(spec, 'healthCheckNodePort'), ...list(at(spec, 'ports')).map((port) => at(port, 'nodePort'))]),
  );
}

/** Allocates a node port for each field of `spec` that needs one and names none. */
function freeNodePorts(store: ObjectStore, spec: JsonObject): void {
  const lacks = (of: JsonObject, field: string): boolean => (of[field] ?? 0) === 0;
  const ports = list(spec['ports']).filter((port): port is JsonObject => isObject(port) && lacks(port, 'nodePort'));
  const wantsHealth = isCheckedByNode(spec) && lacks(spec, 'healthCheckNodePort');
  if (ports.length === 0 && !wantsHealth) return;
  const taken = takenNodePorts(store);
  const next = (): number => {
    let candidate = FIRST_NODE_PORT;
    while (candidate < FIRST_NODE_PORT + NODE_PORTS && taken.has(candidate)) candidate++;
    taken.add(candidate);
    return candidate;
  };
  for (const port of ports) port['nodePort'] = next();
  if (wantsHealth) spec['healthCheckNodePort'] = next();
}

/** A load balancer that sends only to nodes with pods checks the health of each node at one port. */
function isCheckedByNode({ type, externalTrafficPolicy }: JsonObject): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/** An address that the client chose must be in the range, and no other Service may have it. */
function notToBeHad(store: ObjectStore, address: string): FieldError[] {
  if (!isIPv4(address)) return [];
  const offset = address.split('.').reduce((number, part) => number * 256 + Number(part), 0) - FIRST_ADDRESS;
  const problem =
    offset < 0 || offset >= ADDRESSES
      ? 'the provided network does not match the current range'
      : store.list('services').some((service) => at(service, 'spec', 'clusterIP') === address)
        ? 'provided IP is already allocated'
        : undefined;
  return problem === undefined ? [] : [clusterIpError('spec.clusterIPs', address, `failed to allocate IP ${address}: ${problem}`)];
}

/** The same check for node ports that the client chose. */
function nodePortsNotToBeHad(store: ObjectStore, spec: JsonObject, before: readonly Json[]): FieldError[] {
  const own = new Set(before.map((port) => at(port, 'nodePort')));
  const taken = takenNodePorts(store);
  return list(spec['ports']).flatMap((port, index) => {
    const nodePort = at(port, 'nodePort');
    if (typeof nodePort !== 'number' || nodePort === 0 || own.has(nodePort)) return [];
    const last = FIRST_NODE_PORT + NODE_PORTS - 1;
    const problem =
      nodePort < FIRST_NODE_PORT || nodePort > last
        ? `provided port is not in the valid range. The range of valid ports is ${FIRST_NODE_PORT}-${last}`
        : taken.has(nodePort)
          ? 'provided port is already allocated'
          : undefined;
    return problem === undefined ? [] : [invalidValue(`spec.ports[${index}].nodePort`, nodePort, problem)];
  });
}

const hasNodePorts = ({ type }: JsonObject): boolean => type === 'NodePort' || type === 'LoadBalancer';

/** If the type of a Service changes, the fields of the former type are removed. */
function dropOfFormerType(spec: JsonObject, before: JsonObject): void {
  if (!isCheckedByNode(spec) && spec['healthCheckNodePort'] === before['healthCheckNodePort']) delete spec['healthCheckNodePort'];
  if (spec['type'] === before['type']) return;
  if (spec['type'] === 'ExternalName' && spec['clusterIP'] === before['clusterIP'])
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) delete spec[field];
  if (hasNodePorts(spec) || !hasNodePorts(before)) return;
  const former = new Set(list(before['ports']).map((port) => at(port, 'nodePort')));
  for (const port of list(spec['ports'])) if (isObject(port) && former.has(port['nodePort'])) delete port['nodePort'];
  if (spec['externalTrafficPolicy'] === before['externalTrafficPolicy']) delete spec['externalTrafficPolicy'];
}

function clusterIpError(field: string, address: Json | undefined, detail: string): FieldError {
  return { type: 'Invalid', field, message: `Invalid value: [${JSON.stringify(address ?? '')}]: ${detail}` };
}

export function serviceStrategy(store: ObjectStore): Strategy {
  return {
    nameRule: 'service',
    prepareCreate: (service) => void (service['status'] = { loadBalancer: {} }),
    prepareUpdate: (service, old) => {
      const spec = object(service['spec']);
      const before = object(old['spec']);
      for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'])
        if (spec[field] === undefined && before[field] !== undefined) spec[field] = before[field];
      if (isCheckedByNode(spec) && isCheckedByNode(before)) spec['healthCheckNodePort'] ??= before['healthCheckNodePort'] ?? 0;
      dropOfFormerType(spec, before);
    },
    applyDefaults: (service) => {
      const spec = object(service['spec']);
      service['spec'] = spec;
      spec['type'] ??= 'ClusterIP';
      spec['sessionAffinity'] ??= 'None';
      if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
      if (spec['sessionAffinity'] === 'ClientIP')
        spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: 10_800, ...object(at(spec, 'sessionAffinityConfig', 'clientIP')) } };
      for (const port of list(spec['ports'])) {
        if (!isObject(port)) continue;
        port['protocol'] ??= 'TCP';
        port['targetPort'] ??= port['port'] ?? 0;
      }
      if (spec['type'] === 'ExternalName') return;
      if (text(spec['clusterIP']) === '') spec['clusterIP'] = text(list(spec['clusterIPs'])[0]) || freeAddress(store);
      spec['clusterIPs'] ??= [text(spec['clusterIP'])];
      spec['ipFamilies'] ??= list(spec['clusterIPs']).map((address) => (text(address).includes(':') ? 'IPv6' : 'IPv4'));
      spec['ipFamilyPolicy'] ??= list(spec['clusterIPs']).length > 1 ? 'RequireDualStack' : 'SingleStack';
      spec['internalTrafficPolicy'] ??= 'Cluster';
      if (spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer') {
        spec['externalTrafficPolicy'] ??= 'Cluster';
        freeNodePorts(store, spec);
      }
      if (spec['type'] === 'LoadBalancer') spec['allocateLoadBalancerNodePorts'] ??= true;
    },
    validate: (service, old) => {
      const spec = object(service['spec']);
      const before = at(old, 'spec', 'clusterIP');
      const errors = [
        ...serviceErrors(spec),
        ...(before !== undefined && before !== spec['clusterIP'] && spec['type'] !== 'ExternalName'
          ? [clusterIpError('spec.clusterIPs[0]', spec['clusterIP'], 'may not change once set')]
          : []),
      ];
      // An address and node ports are allocated only if everything else is valid.
      return errors.length > 0
        ? errors
        : [
            ...(old === undefined ? notToBeHad(store, text(spec['clusterIP'])) : []),
            ...nodePortsNotToBeHad(store, spec, list(at(old, 'spec', 'ports'))),
          ];
    },
  };
}
