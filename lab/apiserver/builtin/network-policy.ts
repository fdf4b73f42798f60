/** NetworkPolicies: defaults, and the checks of peers, networks and ports. */
import type { Json } from '../json.ts';
import { at, isObject, list, object, text } from '../json.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../status.ts';
import { isStrictlyWithin, oneOf, parseNetwork, portErrors, selectorErrors } from './field-rules.ts';

const POLICY_PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const DIRECTIONS = ['Ingress', 'Egress'];

function portRuleErrors(rule: Json, field: string): FieldError[] {
  const port = at(rule, 'port');
  return [
    ...oneOf(at(rule, 'protocol'), `${field}.protocol`, POLICY_PROTOCOLS),
    ...(port === undefined ? [] : portErrors(port, `${field}.port`)),
  ];
}

function blockErrors(block: Json, field: string): FieldError[] {
  const cidr = text(at(block, 'cidr'));
  const network = parseNetwork(cidr);
  if (cidr === '') return [required(`${field}.cidr`)];
  if (network === undefined) return [invalidValue(`${field}.cidr`, cidr, 'not a valid CIDR')];
  const excepted = list(at(block, 'except')).map((value) => ({ value, except: parseNetwork(text(value)) }));
  const isWrong = excepted.some(({ except }) => except === undefined);
  return excepted.flatMap(({ value, except }, index) => {
    const here = `${field}.except[${index}]`;
    if (except === undefined) return [invalidValue(here, value, 'not a valid CIDR')];
    return isWrong || isStrictlyWithin(except, network) ? [] : [invalidValue(here, value, 'must be a strict subset of `cidr`')];
  });
}

function peerErrors(peer: Json, field: string): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = object(peer);
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (!selects && ipBlock === undefined) return [required(field, 'must specify a peer')];
  return [
    ...selectorErrors(podSelector, `${field}.podSelector`),
    ...selectorErrors(namespaceSelector, `${field}.namespaceSelector`),
    ...(ipBlock === undefined ? [] : blockErrors(ipBlock, `${field}.ipBlock`)),
    ...(selects && ipBlock !== undefined ? [forbiddenField(field, 'may not specify both ipBlock and another peer')] : []),
  ];
}

function rulesErrors(rules: Json | undefined, field: string, peers: 'from' | 'to'): FieldError[] {
  return list(rules).flatMap((rule, index) => [
    ...list(at(rule, 'ports')).flatMap((port, at_) => portRuleErrors(port, `${field}[${index}].ports[${at_}]`)),
    ...list(at(rule, peers)).flatMap((peer, at_) => peerErrors(peer, `${field}[${index}].${peers}[${at_}]`)),
  ]);
}

function typesErrors(types: readonly Json[]): FieldError[] {
  if (types.length > 2) return [invalidValue('spec.policyTypes', [...types], 'may not specify more than two policyTypes')];
  return types.flatMap((type, index) =>
    DIRECTIONS.includes(text(type)) ? [] : [notSupported(`spec.policyTypes[${index}]`, type, DIRECTIONS)],
  );
}

export const networkPolicies: Strategy = {
  applyDefaults: (policy) => {
    const spec = object(policy['spec']);
    policy['spec'] = spec;
    spec['podSelector'] ??= {};
    spec['policyTypes'] ??= list(spec['egress']).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    for (const rule of [...list(spec['ingress']), ...list(spec['egress'])])
      for (const port of list(at(rule, 'ports'))) if (isObject(port)) port['protocol'] ??= 'TCP';
  },
  validate: (policy) => {
    const spec = object(policy['spec']);
    return [
      ...selectorErrors(spec['podSelector'], 'spec.podSelector'),
      ...rulesErrors(spec['ingress'], 'spec.ingress', 'from'),
      ...rulesErrors(spec['egress'], 'spec.egress', 'to'),
      ...typesErrors(list(spec['policyTypes'])),
    ];
  },
};
