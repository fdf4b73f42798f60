/** The checks of a pod's spec, in a Pod or in a template: the conditions that a scheduler and a kubelet rely on. */
import type { Json, JsonObject } from '../json.ts';
import { at, list, object, text } from '../json.ts';
import { labelKeyProblems } from '../object-meta.ts';
import { parseQuantity, quantityOf } from '../quantity.ts';
import type { FieldError } from '../status.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../status.ts';
import {
  addressErrors,
  labelsErrors,
  nameErrors,
  notNegative,
  oneOf,
  optionalNameErrors,
  portErrors,
  portNameErrors,
  portNumberErrors,
  protocolErrors,
} from './field-rules.ts';
import { TAINT_EFFECTS } from './node.ts';
import { resolverErrors, spreadErrors } from './placement-rules.ts';
import { environmentErrors } from './variable-rules.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const STANDARD_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const LIFECYCLE_HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'sleep'];
const MATCHES_ALL = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

export function validatePodSpec(spec: JsonObject, path: string): FieldError[] {
  const containers = list(spec['containers']);
  const volumes = list(spec['volumes']).map((volume) => text(at(volume, 'name')));
  const names = new Set<string>();
  const hostPorts = new Set<string>();
  return [
    ...volumes.flatMap((name, index) => [
      ...nameErrors(name, `${path}.volumes[${index}].name`),
      ...(name !== '' && volumes.indexOf(name) < index ? [duplicate(`${path}.volumes[${index}].name`, name)] : []),
    ]),
    ...(containers.length === 0 ? [required(`${path}.containers`)] : []),
    ...['containers', 'initContainers'].flatMap((kind) =>
      list(spec[kind]).flatMap((container, index) => {
        const field = `${path}.${kind}[${index}]`;
        const name = text(at(container, 'name'));
        const again = names.has(name);
        names.add(name);
        return [
          ...nameErrors(name, `${field}.name`),
          ...(again ? [duplicate(`${field}.name`, name)] : []),
          ...containerErrors(object(container), field, volumes, spec['hostNetwork'] === true),
          ...hostPortErrors(list(at(container, 'ports')), field, hostPorts),
        ];
      }),
    ),
    ...oneOf(spec['restartPolicy'], `${path}.restartPolicy`, RESTART_POLICIES),
    ...oneOf(spec['dnsPolicy'], `${path}.dnsPolicy`, DNS_POLICIES),
    ...dnsErrors(spec, path),
    ...resolverErrors(object(spec['dnsConfig']), `${path}.dnsConfig`),
    ...list(spec['topologySpreadConstraints']).flatMap((constraint, index) =>
      spreadErrors(object(constraint), `${path}.topologySpreadConstraints[${index}]`),
    ),
    ...labelsErrors(spec['nodeSelector'], `${path}.nodeSelector`),
    ...list(spec['tolerations']).flatMap((toleration, index) => tolerationErrors(object(toleration), `${path}.tolerations[${index}]`)),
    ...list(spec['hostAliases']).flatMap((alias) =>
      addressErrors(at(alias, 'ip'), '').length === 0
        ? []
        : [invalidValue(`${path}.hostAliases.ip`, at(alias, 'ip'), 'must be valid IP address')],
    ),
    ...optionalNameErrors(spec['hostname'], `${path}.hostname`),
    ...optionalNameErrors(spec['subdomain'], `${path}.subdomain`),
    ...optionalNameErrors(spec['nodeName'], `${path}.nodeName`, 'subdomain'),
    ...optionalNameErrors(spec['serviceAccountName'], `${path}.serviceAccountName`, 'subdomain'),
    ...(typeof spec['activeDeadlineSeconds'] === 'number' && spec['activeDeadlineSeconds'] < 1
      ? [invalidValue(`${path}.activeDeadlineSeconds`, spec['activeDeadlineSeconds'], 'must be between 1 and 2147483647, inclusive')]
      : []),
  ];
}

function dnsErrors(spec: JsonObject, path: string): FieldError[] {
  if (spec['dnsPolicy'] !== 'None') return [];
  if (spec['dnsConfig'] === undefined) return [required(`${path}.dnsConfig`, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  return list(at(spec['dnsConfig'], 'nameservers')).length > 0
    ? []
    : [required(`${path}.dnsConfig.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
}

function containerErrors(container: JsonObject, field: string, volumes: readonly string[], hostNetwork: boolean): FieldError[] {
  const image = text(container['image']);
  const security = object(container['securityContext']);
  return [
    ...(image === '' ? [required(`${field}.image`)] : []),
    ...(image === image.trim() ? [] : [invalidValue(`${field}.image`, image, 'must not have leading or trailing whitespace')]),
    ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((probe) =>
      container[probe] === undefined ? [] : probeErrors(object(container[probe]), `${field}.${probe}`),
    ),
    ...['livenessProbe', 'startupProbe'].flatMap((probe) => {
      const threshold = at(container[probe], 'successThreshold') ?? 1;
      return threshold === 1 ? [] : [invalidValue(`${field}.${probe}.successThreshold`, threshold, 'must be 1')];
    }),
    ...portsErrors(list(container['ports']), `${field}.ports`, hostNetwork),
    ...environmentErrors(container, field),
    ...lifecycleErrors(object(container['lifecycle']), `${field}.lifecycle`),
    ...mountErrors(list(container['volumeMounts']), `${field}.volumeMounts`, volumes),
    ...oneOf(container['imagePullPolicy'], `${field}.imagePullPolicy`, PULL_POLICIES),
    ...resourceErrors(object(container['resources']), `${field}.resources`),
    ...(security['privileged'] === true && security['allowPrivilegeEscalation'] === false
      ? [invalidValue(`${field}.securityContext`, security, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true')]
      : []),
  ];
}

function portsErrors(ports: readonly Json[], field: string, hostNetwork: boolean): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const here = `${field}[${index}]`;
    const { containerPort = 0, hostPort = 0 } = object(port);
    const name = text(at(port, 'name'));
    const again = name !== '' && names.has(name);
    names.add(name);
    return [
      ...(name === '' ? [] : portNameErrors(name, `${here}.name`)),
      ...(again ? [duplicate(`${here}.name`, name)] : []),
      ...(containerPort === 0 ? [required(`${here}.containerPort`)] : portNumberErrors(containerPort, `${here}.containerPort`)),
      ...(hostPort === 0 ? [] : portNumberErrors(hostPort, `${here}.hostPort`)),
      ...(hostNetwork && hostPort !== containerPort
        ? [invalidValue(`${here}.hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true')]
        : []),
      ...protocolErrors(at(port, 'protocol'), `${here}.protocol`),
    ];
  });
}

/** Within a pod only one container may use a host port. */
function hostPortErrors(ports: readonly Json[], field: string, taken: Set<string>): FieldError[] {
  return ports.flatMap((port, index) => {
    const { protocol = '', hostIP = '', hostPort = 0 } = object(port);
    if (hostPort === 0) return [];
    const key = `${text(protocol)}/${text(hostIP)}/${String(hostPort)}`;
    if (taken.has(key)) return [duplicate(`${field}.ports[${index}].hostPort`, key)];
    taken.add(key);
    return [];
  });
}

function mountErrors(mounts: readonly Json[], field: string, volumes: readonly string[]): FieldError[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const [name, path] = [text(at(mount, 'name')), text(at(mount, 'mountPath'))];
    const again = paths.has(path);
    paths.add(path);
    return [
      ...(name === '' ? [required(`${field}[${index}].name`)] : []),
      ...(volumes.includes(name)
        ? []
        : [{ type: 'NotFound', field: `${field}[${index}].name`, message: `Not found: ${JSON.stringify(name)}` } as const]),
      ...(path === '' ? [required(`${field}[${index}].mountPath`)] : []),
      ...(again ? [invalidValue(`${field}[${index}].mountPath`, path, 'must be unique')] : []),
      ...withinErrors(text(at(mount, 'subPath')), `${field}.subPath`),
    ];
  });
}

/** A path within the volume. Like a real server, the error does not name the index of the mount. */
function withinErrors(path: string, field: string): FieldError[] {
  return [
    ...(path.startsWith('/') ? [invalidValue(field, path, 'must be a relative path')] : []),
    ...(path.split('/').includes('..') ? [invalidValue(field, path, "must not contain '..'")] : []),
  ];
}

function lifecycleErrors(lifecycle: JsonObject, field: string): FieldError[] {
  return ['postStart', 'preStop'].flatMap((moment) =>
    lifecycle[moment] === undefined || LIFECYCLE_HANDLERS.some((handler) => at(lifecycle[moment], handler) !== undefined)
      ? []
      : [required(`${field}.${moment}`, 'must specify a handler type')],
  );
}

function probeErrors(probe: JsonObject, field: string): FieldError[] {
  const [first, ...others] = HANDLERS.filter((handler) => probe[handler] !== undefined);
  return [
    ...(first === undefined ? [required(field, 'must specify a handler type')] : []),
    ...others.map((handler) => forbiddenField(`${field}.${handler}`, 'may not specify more than 1 handler type')),
    ...(first === 'httpGet' || first === 'tcpSocket' ? portErrors(at(probe, first, 'port') ?? 0, `${field}.${first}.port`) : []),
    ...['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'].flatMap((seconds) =>
      notNegative(probe[seconds], `${field}.${seconds}`),
    ),
  ];
}

function resourceErrors({ requests, limits }: JsonObject, field: string): FieldError[] {
  const kinds = [
    ['limits', object(limits)],
    ['requests', object(requests)],
  ] as const;
  const errors = kinds.flatMap(([kind, amounts]) =>
    Object.entries(amounts).flatMap(([name, amount]) => {
      const here = `${field}.${kind}[${name}]`;
      const isStandard = STANDARD_RESOURCES.includes(name) || name.startsWith('hugepages-');
      return [
        ...(name.includes('/') ? labelKeyProblems(name).map((rule) => invalidValue(here, name, rule)) : []),
        ...(name.includes('/') || isStandard
          ? []
          : ['must be a standard resource type or fully qualified', 'must be a standard resource for containers'].map((rule) =>
              invalidValue(here, name, rule),
            )),
        ...((parseQuantity(text(amount))?.nano ?? 0n) < 0n ? [invalidValue(here, amount, 'must be greater than or equal to 0')] : []),
      ];
    }),
  );
  for (const [name, amount] of Object.entries(object(requests))) {
    const limit = object(limits)[name];
    if (limit !== undefined && quantityOf(amount).nano > quantityOf(limit).nano)
      errors.push(invalidValue(`${field}.requests`, amount, `must be less than or equal to ${name} limit`));
  }
  return errors;
}

function tolerationErrors(toleration: JsonObject, field: string): FieldError[] {
  const { tolerationSeconds } = toleration;
  const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map((name) => text(toleration[name]));
  const errors = key === '' ? [] : labelKeyProblems(key ?? '').map((rule) => invalidValue(`${field}.key`, key, rule));
  if (key === '' && operator !== 'Exists') errors.push(invalidValue(`${field}.operator`, operator, MATCHES_ALL));
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    errors.push(invalidValue(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  if (operator === 'Exists' && value !== '')
    errors.push(invalidValue(`${field}.operator`, toleration, "value must be empty when `operator` is 'Exists'"));
  else if (!['Equal', 'Exists', ''].includes(operator ?? '')) errors.push(notSupported(`${field}.operator`, operator, ['Equal', 'Exists']));
  return [...errors, ...oneOf(effect, `${field}.effect`, TAINT_EFFECTS)];
}
