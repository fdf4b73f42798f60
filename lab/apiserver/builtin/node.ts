/** Nodes: the initial state, and the checks of taints and networks. */
import type { Json } from '../json.ts';
import { at, list, object, text } from '../json.ts';
import { labelKeyProblems, labelValueProblem } from '../object-meta.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, notSupported, required } from '../status.ts';
import { parseNetwork } from './field-rules.ts';

/** The initial state of a node, until a node controller reports it ready. */
const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const NODE_INFO = [
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
];

function taintErrors(taints: readonly Json[]): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const field = `metadata.taints[${index}]`;
    const [key, value, effect] = [text(at(taint, 'key')), text(at(taint, 'value')), text(at(taint, 'effect'))];
    const problem = labelValueProblem(value);
    const errors = [
      ...labelKeyProblems(key).map((rule) => invalidValue(`${field}.key`, key, rule)),
      ...(problem === undefined ? [] : [invalidValue(`${field}.value`, value, problem)]),
      ...(effect === '' ? [required(`${field}.effect`)] : []),
      ...(effect === '' || TAINT_EFFECTS.includes(effect) ? [] : [notSupported(`${field}.effect`, effect, TAINT_EFFECTS)]),
    ];
    if (seen.has(`${effect} ${key}`))
      errors.push({
        type: 'Duplicate',
        field,
        message: `Duplicate value: ${JSON.stringify(taint)}: taints must be unique by key and effect pair`,
      });
    seen.add(`${effect} ${key}`);
    return errors;
  });
}

export const nodes: Strategy = {
  prepareCreate: (node) => {
    const spec = object(node['spec']);
    node['spec'] = spec;
    const taints = list(spec['taints']);
    if (!taints.some((taint) => at(taint, 'key') === NOT_READY.key && at(taint, 'effect') === NOT_READY.effect))
      spec['taints'] = [...taints, { ...NOT_READY }];
  },
  settles: true,
  applyDefaults: (node) => {
    const spec = object(node['spec']);
    if (text(spec['podCIDR']) !== '') spec['podCIDRs'] ??= [text(spec['podCIDR'])];
    else if (list(spec['podCIDRs']).length > 0) spec['podCIDR'] = text(list(spec['podCIDRs'])[0]);
    const status = object(node['status']);
    node['status'] = status;
    status['daemonEndpoints'] ??= { kubeletEndpoint: { Port: 0 } };
    const info = object(status['nodeInfo']);
    if (status['nodeInfo'] !== info) status['nodeInfo'] = info;
    for (const field of NODE_INFO) info[field] ??= '';
  },
  validate: (node) => [
    ...taintErrors(list(at(node, 'spec', 'taints'))),
    ...list(at(node, 'spec', 'podCIDRs')).flatMap((cidr, index) =>
      parseNetwork(text(cidr)) === undefined ? [invalidValue(`spec.podCIDRs[${index}]`, [cidr], 'must be valid CIDR')] : [],
    ),
  ],
};
