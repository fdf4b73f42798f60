/**
 * Splits a manifest into two turns: the objects that bind pods, then the pods. Each kind arrives at a controller by its own watch. A pod
 * that arrives before the Subnet of its namespace gets an address of the default Subnet, so a single turn would be a race.
 */
import { DEFAULT_PROVIDER, podAnnotation } from '../api/well-known.ts';
import type { PrintedObject } from './printed-objects.ts';

const PODS = /^kind: *(Pod|Deployment|StatefulSet|DaemonSet|ReplicaSet|Job|VirtualMachine\w*) *$/m;
const BINDING = /^kind: *(Vpc|Subnet|IPPool|Namespace) *$/m;
const NAME = /^metadata:(?: *\{ *|\n(?: {2}.*\n)*? {2})name: *([^\s,}]+)/m;
const SUBNETS = podAnnotation(DEFAULT_PROVIDER, 'logical_switch');

export interface BindingObject {
  readonly kind: 'vpc' | 'subnet' | 'ippool' | 'namespace';
  readonly name: string;
}

export interface ManifestTurns {
  /** One or two manifests, in order; pods are in the last. */
  readonly turns: readonly string[];
  /** Objects that the controller has to observe before pods arrive, now or later. */
  readonly binding: readonly BindingObject[];
}

export function manifestTurns(yaml: string): ManifestTurns {
  const documents = yaml.split(/^(?=---$)/m).filter((document) => document.trim() !== '');
  const [pods, others] = [documents.filter(hasPods), documents.filter((one) => !hasPods(one))];
  const found = others.flatMap((document): readonly BindingObject[] => {
    const [, kind = ''] = BINDING.exec(document) ?? [];
    const [, name = ''] = NAME.exec(document) ?? [];
    return kind === '' || name === '' ? [] : [{ kind: kind.toLowerCase() as BindingObject['kind'], name }];
  });
  // A Namespace alone gets no report.
  const binding = found.some(({ kind }) => kind === 'subnet') ? found : found.filter(({ kind }) => kind !== 'namespace');
  return { turns: pods.length === 0 || binding.length === 0 ? [yaml] : [others.join(''), pods.join('')], binding };
}

/** Whether it has pods, or workloads that make pods. */
export function hasPods(yaml: string): boolean {
  return PODS.test(yaml);
}

/** Whether the controller has observed the current object: it writes a condition on each kind, and the Subnet annotation on a Namespace. */
export function isSeen({ kind }: BindingObject, object: PrintedObject): boolean {
  if (kind === 'namespace') return object.metadata.annotations?.[SUBNETS] !== undefined;
  const { generation } = object.metadata;
  return object.status?.conditions?.some(({ observedGeneration }) => observedGeneration === generation) === true;
}
