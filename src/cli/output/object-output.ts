/** One object on standard output, in kubectl's formats: a table for users, the object itself for programs. */
import { exactJson, exactYaml } from '../../text/exact-text.ts';
import { visible } from '../../text/visible-text.ts';
import { stringifyJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Output } from './terminal.ts';

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export interface Column {
  readonly header: string;
  readonly value: string;
  /** Displayed with `-o wide` only. */
  readonly wide?: boolean;
}

/** @param singular as kubectl names it: `ip.kubeovn.io` */
export function objectText(format: OutputFormat, object: KubeObject, singular: string, columns: readonly Column[]): Output {
  switch (format) {
    case 'name':
      return [`${singular}/${object.metadata.name}`];
    case 'json':
      return exactJson(`${JSON.stringify(plain(object), undefined, 2)}\n`);
    case 'yaml':
      return exactYaml(plain(object));
    case 'table':
    case 'wide':
      return tableLines(columns.filter(({ wide }) => format === 'wide' || wide !== true));
  }
}

/** The object without `managedFields` and undefined fields. */
function plain({ metadata, ...rest }: KubeObject & { readonly metadata: { readonly managedFields?: unknown } }): unknown {
  const { managedFields: _, ...kept } = metadata;
  return JSON.parse(stringifyJson({ ...rest, metadata: kept }));
}

function tableLines(columns: readonly Column[]): readonly string[] {
  const cells = columns.map(({ header, value }) => [header, value === '' ? '<none>' : visible(value)] as const);
  const widths = cells.map(([header, value]) => Math.max(header.length, value.length));
  const line = (index: 0 | 1): string =>
    cells
      .map((cell, at) => cell[index].padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(0), line(1)];
}
