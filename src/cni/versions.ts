/** Versions of the CNI specification that the plugin speaks. Their differences are in `result.ts` and in which commands exist. */
export const VERSIONS = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const;
export type Version = (typeof VERSIONS)[number];

export const NEWEST: Version = '1.1.0';
/** Of a configuration that names none, says the specification. */
export const WITHOUT_ONE: Version = '0.1.0';

export function isVersion(text: string): text is Version {
  return (VERSIONS as readonly string[]).includes(text);
}

export function isAtLeast(version: Version, other: Version): boolean {
  return VERSIONS.indexOf(version) >= VERSIONS.indexOf(other);
}
