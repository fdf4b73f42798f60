/**
 * One object on standard output, in kubectl's formats: a table for people, the object itself for programs.
 */
import { stringify } from 'yaml';
import { stringifyJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/resource.ts';

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export interface Column {
  readonly header: string;
  readonly value: string;
  /** Only in the wide table. */
  readonly wide?: boolean;
}

/** @param singular as kubectl names it: `ip.kubeovn.io` */
export function objectText(format: OutputFormat, object: KubeObject, singular: string, columns: readonly Column[]): string {
  switch (format) {
    case 'name':
      return `${singular}/${object.metadata.name}\n`;
    case 'json':
      return `${JSON.stringify(plain(object), undefined, 2)}\n`;
    case 'yaml':
      return stringify(plain(object));
    case 'table':
    case 'wide':
      return tableText(columns.filter(({ wide }) => format === 'wide' || wide !== true));
  }
}

/** Without the bookkeeping of clients, and without a key that was left undefined. */
function plain({ metadata, ...rest }: KubeObject & { readonly metadata: { readonly managedFields?: unknown } }): unknown {
  const { managedFields: _, ...kept } = metadata;
  return JSON.parse(stringifyJson({ ...rest, metadata: kept }));
}

function tableText(columns: readonly Column[]): string {
  const cells = columns.map(({ header, value }) => [header, value === '' ? '<none>' : value] as const);
  const widths = cells.map(([header, value]) => Math.max(header.length, value.length));
  const line = (index: 0 | 1): string =>
    cells
      .map((cell, at) => cell[index].padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return `${line(0)}\n${line(1)}\n`;
}
