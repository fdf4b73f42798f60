/** Aggregated ClusterRoles: a role with an `aggregationRule` has the rules of all roles that its selectors select. */
import type { Json } from './json.ts';
import { at, equal, list } from './json.ts';
import type { KubeObject } from './object.ts';
import type { Operations } from './operations.ts';
import type { ResourceRegistry } from './registry.ts';
import { selectsLabels } from './selectors.ts';
import type { StoreEvent } from './store.ts';
import { StoreController } from './store-controller.ts';

const TABLE = 'clusterroles';

export class RoleAggregation extends StoreController {
  /** Names of the aggregated roles: a change of any role affects only these. */
  readonly #aggregated = new Set<string>();

  constructor(operations: Operations, registry: ResourceRegistry) {
    super(operations, registry);
    for (const role of operations.store.list(TABLE)) this.#see(role);
  }

  protected override onEvent({ type, table, object: role, previous }: StoreEvent): void {
    if (table !== TABLE) return;
    if (type === 'DELETED') this.#aggregated.delete(role.metadata.name);
    else this.#see(role);
    for (const name of this.#aggregated) {
      const { selectors } = selectorsOf(this.operations.store.get(TABLE, name));
      if ([role, previous].some((state) => state !== undefined && isSelected(selectors, state))) this.enqueue(name);
    }
  }

  #see(role: KubeObject): void {
    const { name } = role.metadata;
    if (!selectorsOf(role).isAggregated) {
      this.#aggregated.delete(name);
      return;
    }
    this.#aggregated.add(name);
    this.enqueue(name);
  }

  protected override reconcile(name: string): void {
    const { store } = this.operations;
    const definition = this.registry.find('rbac.authorization.k8s.io', 'v1', TABLE);
    const role = store.get(TABLE, name);
    const { isAggregated, selectors } = selectorsOf(role);
    if (definition === undefined || role === undefined || !isAggregated) return;
    const rules: Json[] = [];
    // In the order of selectors, then of names; each rule once.
    for (const selector of selectors)
      for (const other of store.list(TABLE))
        if (other.metadata.name !== name && isSelected([selector], other))
          for (const rule of list(other['rules'])) if (!rules.some((known) => equal(known, rule))) rules.push(rule);
    if (equal(rules, list(role['rules']))) return;
    this.operations.update(definition, '', name, (current) => ({ ...current, rules: structuredClone(rules) }));
  }
}

function selectorsOf(role: KubeObject | undefined): { readonly isAggregated: boolean; readonly selectors: readonly Json[] } {
  const rule = role?.['aggregationRule'];
  return { isAggregated: rule !== undefined && rule !== null, selectors: list(at(rule, 'clusterRoleSelectors')) };
}

function isSelected(selectors: readonly Json[], role: KubeObject): boolean {
  return selectors.some((selector) => selectsLabels(selector, role.metadata.labels ?? {}));
}
