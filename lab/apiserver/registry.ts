/** The served resources by group, version and plural; resources of CustomResourceDefinitions are added and removed. */
import type { ResourceDefinition } from './resource.ts';

export class ResourceRegistry {
  readonly #byPath = new Map<string, ResourceDefinition>();
  /** Changes with every change of the set; caches derived from it compare this number. */
  #generation = 0;

  get generation(): number {
    return this.#generation;
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  findKind(group: string, version: string, kind: string): ResourceDefinition | undefined {
    for (const definition of this.#byPath.values()) {
      if (definition.group === group && definition.version === version && definition.kind === kind) return definition;
    }
    return undefined;
  }

  all(): ResourceDefinition[] {
    return [...this.#byPath.values()];
  }

  add(definition: ResourceDefinition): void {
    this.#byPath.set(pathOf(definition), definition);
    this.#generation++;
  }

  remove(definition: ResourceDefinition): void {
    if (this.#byPath.get(pathOf(definition)) !== definition) return;
    this.#byPath.delete(pathOf(definition));
    this.#generation++;
  }

  /** Groups in the order of their first resource, the core group (`''`) first; each has its versions, preferred first. */
  groups(): Map<string, string[]> {
    const groups = new Map<string, string[]>([['', ['v1']]]);
    for (const { group, version } of this.#byPath.values()) {
      const versions = groups.get(group) ?? [];
      if (!versions.includes(version)) versions.push(version);
      groups.set(group, versions);
    }
    for (const versions of groups.values()) versions.sort(compareVersions);
    return groups;
  }
}

function pathOf(definition: ResourceDefinition): string {
  return `${definition.group}/${definition.version}/${definition.plural}`;
}

/** GA before beta before alpha, then the higher number first. */
export function compareVersions(a: string, b: string): number {
  const rank = (version: string): readonly number[] => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (match === null) return [0, 0, 0];
    return [match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1, Number(match[1]), Number(match[3] ?? 0)];
  };
  const left = rank(a);
  const right = rank(b);
  for (let index = 0; index < 3; index++) {
    const difference = (right[index] ?? 0) - (left[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : 1;
}
