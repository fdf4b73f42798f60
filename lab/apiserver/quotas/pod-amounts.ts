import { at, list, object } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Quantity } from './quantity.ts';
import { add, larger, quantityOf, ZERO } from './quantity.ts';

/** The sum of a pod's requests or limits, by resource: containers run together, init containers run before them, one after another. */
export function podAmounts(pod: KubeObject, kind: 'requests' | 'limits'): ReadonlyMap<string, Quantity> {
  const sums = new Map<string, Quantity>();
  const take = (field: string, together: (sum: Quantity, one: Quantity) => Quantity): void => {
    for (const container of list(at(pod, 'spec', field)))
      for (const [name, value] of Object.entries(object(at(container, 'resources', kind))))
        sums.set(name, together(sums.get(name) ?? ZERO, quantityOf(value)));
  };
  take('containers', add);
  take('initContainers', larger);
  return sums;
}
