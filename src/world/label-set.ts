/**
 * Label sets: the labels of pods, of which there are far fewer than pods. Two pods of one namespace with equal labels have one label set.
 */
import type { Labels } from '../api/kubernetes/meta.ts';
import { Interner } from '../engine/interner.ts';

const NO_LABELS: Labels = {};
const interner = new Interner<Labels>();
const texts = new WeakMap<Labels, string>();

/** One object for all equal labels. */
export function internLabels(labels: Labels): Labels {
  return interner.intern(textOf(labels), labels);
}

function textOf(labels: Labels): string {
  let text = texts.get(labels);
  if (text === undefined) {
    text = JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    texts.set(labels, text);
  }
  return text;
}

/** Name of the label set of a pod: its namespace, line end, its labels in order. */
export function labelSetOf(namespace: string, labels: Labels = NO_LABELS): string {
  return `${namespace}\n${textOf(labels)}`;
}

export interface LabelSet {
  readonly namespace: string;
  readonly labels: Labels;
}

export function parseLabelSet(name: string): LabelSet {
  const at = name.indexOf('\n');
  return { namespace: name.slice(0, at), labels: Object.fromEntries(JSON.parse(name.slice(at + 1)) as [string, string][]) };
}
