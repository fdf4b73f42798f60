/**
 * Who carries an attached network, by the CNI configuration of its NetworkAttachmentDefinition: Kube-OVN's plugin as a whole, its IPAM
 * alone beside another plugin, or somebody else altogether.
 */

export type AttachmentKind = 'ovn' | 'ipam-only' | 'foreign' | 'unreadable';

const PLUGIN = 'kube-ovn';

/** @param config `spec.config`: JSON of one plugin or of a list of plugins */
export const attachmentKind = (config: string | undefined): AttachmentKind => {
  if (config === undefined || config.trim() === '') return 'foreign';
  const top = fieldsOf(parseJson(config));
  if (top === undefined) return 'unreadable';
  const listed = Array.isArray(top['plugins']) ? (top['plugins'] as readonly unknown[]) : [];
  const plugins: readonly Fields[] = [top, ...listed.map(fieldsOf).filter((plugin) => plugin !== undefined)];
  if (plugins.some(({ type }) => type === PLUGIN)) return 'ovn';
  return plugins.some(({ ipam }) => fieldsOf(ipam)?.['type'] === PLUGIN) ? 'ipam-only' : 'foreign';
};

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
