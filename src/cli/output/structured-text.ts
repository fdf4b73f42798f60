/** Output for programs, a stable interface: it has `apiVersion` and `kind`; fields may be added, none is renamed. */
import { exactJson, exactYaml } from '../../text/exact-text.ts';

const API_VERSION = 'kiln.io/v1';

export const STRUCTURED_FORMATS = ['json', 'yaml'] as const;
export type StructuredFormat = (typeof STRUCTURED_FORMATS)[number];

export function structuredText(format: StructuredFormat, kind: string, fields: object): string {
  const document = { apiVersion: API_VERSION, kind, ...fields };
  return format === 'yaml' ? exactYaml(document) : exactJson(`${JSON.stringify(document, undefined, 2)}\n`);
}
