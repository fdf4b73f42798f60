/**
 * A manifest in two turns: what pods are bound by, then the pods. Each kind comes to a controller by a watch of its own, and a pod that comes
 * before the Subnet of its namespace has an address of the default one: in one breath chance decides, on a crowded machine above all.
 */
import { DEFAULT_PROVIDER, podAnnotation } from '../api/well-known.ts';
import type { PrintedObject } from './printed-objects.ts';

const PODS = /^kind: (Pod|Deployment|StatefulSet|DaemonSet|ReplicaSet|Job|VirtualMachine\w*)$/m;
const BINDING = /^kind: (Subnet|Namespace)$/m;
const SUBNETS = podAnnotation(DEFAULT_PROVIDER, 'logical_switch');

export interface BindingObject {
  readonly kind: 'subnet' | 'namespace';
  readonly name: string;
}

export interface ManifestTurns {
  /** One or two, in order; the second has the pods. */
  readonly turns: readonly string[];
  /** What is to be seen by the controller between them. */
  readonly binding: readonly BindingObject[];
}

export function manifestTurns(yaml: string): ManifestTurns {
  const documents = yaml.split(/^(?=---$)/m).filter((document) => document.trim() !== '');
  const [pods, others] = [documents.filter((one) => PODS.test(one)), documents.filter((one) => !PODS.test(one))];
  const binding = others.flatMap((document): readonly BindingObject[] => {
    const [, kind = ''] = BINDING.exec(document) ?? [];
    const [, name = ''] = /^ {2}name: (\S+)$/m.exec(document) ?? [];
    return kind === '' || name === '' ? [] : [{ kind: kind === 'Subnet' ? 'subnet' : 'namespace', name }];
  });
  if (pods.length === 0 || !binding.some(({ kind }) => kind === 'subnet')) return { turns: [yaml], binding: [] };
  return { turns: [others.join(''), pods.join('')], binding };
}

/** Whether the controller has seen it as it is: it says of a Subnet what it makes of it, and on a Namespace where its pods belong. */
export function isSeen({ kind }: BindingObject, object: PrintedObject): boolean {
  if (kind === 'namespace') return object.metadata.annotations?.[SUBNETS] !== undefined;
  const { generation } = object.metadata;
  return object.status?.conditions?.some(({ observedGeneration }) => observedGeneration === generation) === true;
}
