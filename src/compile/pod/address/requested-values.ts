/** The annotations of a pod with which it requests something, so that a message names pod, annotation and value. */
import { readable } from '../../../api/pod/annotation-limits.ts';
import { annotationKey, interfaceAnnotation, podAnnotation } from '../../../api/well-known.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf, isAllocated } from '../interface/pod-interface.ts';

/** An annotation and its value. */
export interface RequestedValue {
  readonly key: string;
  readonly value: string;
}

type RequestKind = 'subnet' | 'address';

type RequestingInterface = Pick<PodInterface, 'selection'> & { readonly pod: Pick<PodInterface['pod'], 'annotations'> };

/** `sentence` with the pod, the annotation and its value; unchanged if it names the pod already. */
export function podMessage(nic: PodInterface, kind: RequestKind, sentence: string): string {
  const prefix = `Pod ${nic.pod.key}: `;
  if (sentence.startsWith(prefix)) return sentence;
  const values = isAllocated(nic) ? [] : kind === 'subnet' ? subnetValues(nic) : addressValues(nic);
  if (values.length === 0) return prefix + (nic.selection === undefined ? sentence : `network ${networkOf(nic)}: ${sentence}`);
  return prefix + values.map(({ key, value }) => `metadata.annotations[${key}] "${value}"`).join(' and ') + `: ${sentence}`;
}

/** The annotation for one interface of an attached network, which has precedence over that for the provider. */
export function interfaceValue({ pod, selection }: RequestingInterface, suffix: 'ip_address' | 'mac_address'): string {
  return readable(suffix, pod.annotations[interfaceKey(selection, suffix)] ?? '').trim();
}

function interfaceKey(selection: PodInterface['selection'], suffix: 'ip_address' | 'mac_address'): string {
  if (selection === undefined || selection.interfaceName === '') return '';
  return interfaceAnnotation(selection.name, selection.namespace, selection.interfaceName, suffix);
}

function networkOf({ selection }: PodInterface): string {
  return `${selection?.namespace ?? ''}/${selection?.name ?? ''}`;
}

function subnetValues(nic: PodInterface): readonly RequestedValue[] {
  const suffix = nic.isOvn && annotationOf(nic, 'logical_switch') !== '' ? 'logical_switch' : 'ip_pool';
  return requestedValuesOf(nic, [suffix]);
}

/** In order of precedence: the first value that names an address, then what else narrows the choice. */
function addressValues(nic: PodInterface): readonly RequestedValue[] {
  const { selection } = nic;
  const selected: RequestedValue = {
    key: annotationKey.networkAttachments,
    value: [...(selection?.ips ?? []), selection?.mac ?? ''].filter((one) => one !== '').join(','),
  };
  const own = (['ip_address', 'mac_address'] as const).map((suffix): RequestedValue => ({
    key: interfaceKey(selection, suffix),
    value: interfaceValue(nic, suffix),
  }));
  const addresses = [...own, selected, ...requestedValuesOf(nic, ['ip_address', 'ip_pool'])].filter(({ value }) => value !== '');
  return [...addresses.slice(0, 1), ...requestedValuesOf(nic, ['ip_family', 'mac_address'])];
}

/** The requested addresses of one interface of an attached network; the first counts. */
export function interfaceAddressValues(nic: PodInterface): readonly RequestedValue[] {
  const { selection } = nic;
  return [
    { key: interfaceKey(selection, 'ip_address'), value: interfaceValue(nic, 'ip_address') },
    { key: annotationKey.networkAttachments, value: (selection?.ips ?? []).join(',') },
  ].filter(({ value }) => value !== '');
}

export function requestedValuesOf(
  nic: PodInterface,
  suffixes: readonly ('logical_switch' | 'ip_address' | 'ip_pool' | 'ip_family' | 'mac_address')[],
): readonly RequestedValue[] {
  return suffixes.flatMap((suffix) => {
    const value = annotationOf(nic, suffix);
    return value === '' ? [] : [{ key: podAnnotation(nic.provider, suffix), value }];
  });
}
