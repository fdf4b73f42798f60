/**
 * Label sets: the labels of pods, of which there are far fewer than pods. Two pods of one namespace with equal labels have one label set.
 */
import type { Labels } from '../api/kubernetes/meta.ts';

const NO_LABELS: Labels = {};
/** Equal labels are one object, as long as a pod has it. */
const interned = new Map<string, WeakRef<Labels>>();
const texts = new WeakMap<Labels, string>();
const ended = new FinalizationRegistry<string>((text) => {
  if (interned.get(text)?.deref() === undefined) interned.delete(text);
});

/** One object for all equal labels: 50,000 pods of a hundred Deployments keep a hundred. */
export function internLabels(labels: Labels): Labels {
  const text = textOf(labels);
  const known = interned.get(text)?.deref();
  if (known !== undefined) return known;
  interned.set(text, new WeakRef(labels));
  ended.register(labels, text);
  return labels;
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
