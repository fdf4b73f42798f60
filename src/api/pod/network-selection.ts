/**
 * The networks that a pod's annotations request, in the two forms of the Network Plumbing Working Group's de-facto standard:
 * `[namespace/]name[@interface]` separated by commas, or a JSON list.
 */

import { shown } from '../validation/finding.ts';
import { LONGEST_ANNOTATION, MOST_ADDRESSES, MOST_NETWORKS } from './annotation-limits.ts';

/** One element of the list. Absent texts are empty. */
export interface NetworkSelection {
  readonly namespace: string;
  readonly name: string;
  readonly interfaceName: string;
  /** Requested addresses, with or without a prefix length. */
  readonly ips: readonly string[];
  readonly mac: string;
}

export type NetworkSelections =
  | { readonly ok: true; readonly selections: readonly NetworkSelection[] }
  /** `problem` continues a sentence that begins with the annotation. */
  | { readonly ok: false; readonly problem: string };

/** @param namespace of elements without one */
export const parseNetworkSelections = (text: string, namespace: string): NetworkSelections => {
  if (text.trim() === '') return { ok: true, selections: [] };
  if (text.length > LONGEST_ANNOTATION)
    return {
      ok: false,
      problem: `has ${text.length} characters; an annotation that Kiln reads has at most ${LONGEST_ANNOTATION} characters`,
    };
  const parsed = /[[{"]/.test(text) ? fromJson(text, namespace) : fromList(text, namespace);
  const problem = parsed.ok ? interfaceProblem(parsed.selections) : undefined;
  return problem === undefined ? parsed : { ok: false, problem };
};

/** Linux: IFNAMSIZ, without the terminating byte. */
const LONGEST_INTERFACE_NAME = 15;

/** Interface names that no plugin can create. */
function interfaceProblem(selections: readonly NetworkSelection[]): string | undefined {
  const seen = new Set<string>();
  for (const { interfaceName: name } of selections) {
    if (name === '') continue;
    const wrong = (rule: string): string => `asks for interface "${shown(name)}"; ${rule}`;
    if (name.length > LONGEST_INTERFACE_NAME) return wrong(`the name of an interface has at most ${LONGEST_INTERFACE_NAME} characters`);
    if (/[/\s:]/.test(name) || name === '.' || name === '..') return wrong('the name of an interface has no slash, colon or space');
    if (name === 'eth0' || name === 'lo') return wrong('every pod has one of that name already');
    if (seen.has(name)) return wrong('two interfaces of a pod need names of their own');
    seen.add(name);
  }
  return undefined;
}

/** @param asked the number of networks of a pod */
export function tooMany(asked: number): Extract<NetworkSelections, { readonly ok: false }> {
  return { ok: false, problem: `asks for ${asked} interfaces; the annotations of a pod attach at most ${MOST_NETWORKS}` };
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

function fromList(text: string, namespace: string): NetworkSelections {
  const selections: NetworkSelection[] = [];
  const items = text.split(',');
  if (items.length > MOST_NETWORKS) return tooMany(items.length);
  for (const item of items.map((one) => one.trim())) {
    const [path = '', interfaceName, ...more] = item.split('@');
    const parts = path.split('/');
    const name = parts.at(-1) ?? '';
    const own = parts.length === 2 ? (parts[0] ?? '') : namespace;
    const names = [name, own, ...(interfaceName === undefined ? [] : [interfaceName])];
    if (parts.length > 2 || more.length > 0 || !names.every((one) => LABEL.test(one)))
      return {
        ok: false,
        problem: `has "${shown(item)}"; an element is [namespace/]name[@interface], of lower-case letters, digits and dashes`,
      };
    selections.push({ namespace: own, name, interfaceName: interfaceName ?? '', ips: [], mac: '' });
  }
  return { ok: true, selections };
}

function fromJson(text: string, namespace: string): NetworkSelections {
  const parsed = parseJson(text);
  if (!Array.isArray(parsed)) return { ok: false, problem: 'is neither a list of names with commas nor a list in JSON' };
  if (parsed.length > MOST_NETWORKS) return tooMany(parsed.length);
  const selections: NetworkSelection[] = [];
  for (const [i, item] of (parsed as readonly unknown[]).entries()) {
    const wrong = (what: string): NetworkSelections => ({ ok: false, problem: `has an element ${i} ${what}` });
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return wrong('that is not an object');
    const fields = item as Readonly<Record<string, unknown>>;
    const textOfField = (field: string): unknown => fields[field] ?? '';
    const [name, own, interfaceName, mac] = [textOfField('name'), textOfField('namespace'), textOfField('interface'), textOfField('mac')];
    if (typeof name !== 'string' || name === '') return wrong('without the name of its network');
    if (typeof own !== 'string' || typeof interfaceName !== 'string' || typeof mac !== 'string')
      return wrong('whose namespace, interface or mac is not a text');
    const ips = fields['ips'] ?? [];
    if (Array.isArray(ips) && ips.length > MOST_ADDRESSES) return wrong(`with ${ips.length} ips; it has at most ${MOST_ADDRESSES}`);
    if (!Array.isArray(ips) || !ips.every((ip) => typeof ip === 'string')) return wrong('whose ips are not a list of texts');
    selections.push({ namespace: own === '' ? namespace : own, name, interfaceName, ips, mac });
  }
  return { ok: true, selections };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
