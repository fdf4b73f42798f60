/** PriorityClasses: sets a pod's priority by its class, as an API server's admission does, and protects the two system classes. */
import { at, object, text } from './json.ts';
import type { KubeObject } from './object.ts';
import type { Guard } from './operation-options.ts';
import { forbidden } from './status.ts';
import type { ObjectStore } from './store.ts';

const TABLE = 'priorityclasses';
const LOWER = 'PreemptLowerPriority';
const GIVEN = 'must not be provided in pod spec; priority admission controller computed';
/** The prefix of the system classes. */
const SYSTEM = 'system-';

export function priorityOfPods(store: ObjectStore): Guard {
  return ({ verb, definition, name, object: pod }) => {
    if (verb !== 'create' || definition.table !== 'pods' || pod === undefined) return;
    const spec = object(pod['spec']);
    const wanted = text(spec['priorityClassName']);
    const found = wanted === '' ? defaultClass(store) : store.get(TABLE, wanted);
    if (wanted !== '' && found === undefined) throw forbidden(definition, name, `no PriorityClass with name ${wanted} was found`);
    const priority = Number(at(found, 'value') ?? 0);
    const policy = text(at(found, 'preemptionPolicy')) || LOWER;
    const given = spec['priority'] ?? undefined;
    if (given !== undefined && Number(given) !== priority)
      throw forbidden(
        definition,
        name,
        `the integer value of priority (${String(given)}) ${GIVEN} ${priority} from the given PriorityClass name`,
      );
    const asked = spec['preemptionPolicy'] ?? undefined;
    if (asked !== undefined && asked !== policy)
      throw forbidden(
        definition,
        name,
        `the string value of PreemptionPolicy (${text(asked)}) ${GIVEN} ${policy} from the given PriorityClass name`,
      );
    const className = found?.metadata.name;
    pod['spec'] = { ...spec, ...(className === undefined ? {} : { priorityClassName: className }), priority, preemptionPolicy: policy };
  };
}

/** System classes cannot be deleted, and at most one class is the default for pods without a class. */
export function rulesOfPriorityClasses(store: ObjectStore): Guard {
  return ({ verb, definition, name, object: item }) => {
    if (definition.table !== TABLE) return;
    if (verb === 'delete' && name.startsWith(SYSTEM))
      throw forbidden(definition, name, 'this is a system priority class and cannot be deleted');
    const present = verb === 'delete' || item?.['globalDefault'] !== true ? undefined : defaultClass(store)?.metadata.name;
    if (present !== undefined && (verb === 'create' || present !== name))
      throw forbidden(definition, name, `PriorityClass ${present} is already marked as default. Only one default can exist`);
  };
}

/** The one with the lowest value, if there are several. */
function defaultClass(store: ObjectStore): KubeObject | undefined {
  if (store.count(TABLE) === 0) return undefined;
  return store
    .list(TABLE)
    .filter((each) => each['globalDefault'] === true)
    .toSorted((a, b) => Number(a['value']) - Number(b['value']))[0];
}
