/**
 * A manifest in two turns: what pods are bound by, then the pods. Each kind comes to a controller by a watch of its own, and a pod that comes
 * before the Subnet of its namespace has an address of the default one: in one breath chance decides, on a crowded machine above all.
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
  /** One or two, in order; pods are in the last. */
  readonly turns: readonly string[];
  /** What the controller is to have seen before pods come, now or later. */
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
  // Nothing is said on a Namespace by itself.
  const binding = found.some(({ kind }) => kind === 'subnet') ? found : found.filter(({ kind }) => kind !== 'namespace');
  return { turns: pods.length === 0 || binding.length === 0 ? [yaml] : [others.join(''), pods.join('')], binding };
}

/** Whether there are pods in it, or what makes pods. */
export function hasPods(yaml: string): boolean {
  return PODS.test(yaml);
}

/** Whether the controller has seen it as it is: it says of each kind what it makes of it, and on a Namespace where its pods belong. */
export function isSeen({ kind }: BindingObject, object: PrintedObject): boolean {
  if (kind === 'namespace') return object.metadata.annotations?.[SUBNETS] !== undefined;
  const { generation } = object.metadata;
  return object.status?.conditions?.some(({ observedGeneration }) => observedGeneration === generation) === true;
}
