/**
 * The state of an object in a tree: ready, reason, since when.
 */
import type { Condition, ObjectMeta } from '../api/kubernetes/meta.ts';
import { POD_CONDITION } from '../api/well-known.ts';
import { conditionsOf } from '../world/conditions.ts';
import type { ResourceName } from '../world/resources.ts';

export interface ObjectState {
  /** `-` for kinds without readiness. */
  readonly ready: 'True' | 'False' | '-';
  readonly reason: string;
  /** Message of the condition; empty without one. */
  readonly message: string;
  /** RFC 3339: the last transition, or the deletion. */
  readonly since: string;
}

interface StatefulObject {
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** Conditions that are a problem when `True`. */
const ABNORMAL = ['DeletionBlocked', 'AddressConflict'];
/** Conditions that are a problem when `False`. */
const NORMAL = ['Accepted', POD_CONDITION, 'Ready'];

export function stateOf(resource: ResourceName, object: StatefulObject): ObjectState {
  const { metadata } = object;
  const conditions = conditionsOf(resource, object);
  const blocked = find(conditions, 'DeletionBlocked', 'True');
  if (metadata.deletionTimestamp !== undefined)
    return {
      ready: 'False',
      reason: blocked === undefined ? 'Terminating' : 'DeletionBlocked',
      message: blocked?.message ?? '',
      since: metadata.deletionTimestamp,
    };
  const wrong = [...ABNORMAL.map((type) => find(conditions, type, 'True')), ...NORMAL.map((type) => find(conditions, type, 'False'))].find(
    (condition) => condition !== undefined,
  );
  if (wrong !== undefined)
    return {
      ready: 'False',
      reason: wrong.reason ?? wrong.type,
      message: wrong.message ?? '',
      since: wrong.lastTransitionTime ?? metadata.creationTimestamp,
    };
  const { phase = '' } = (object.status ?? {}) as { readonly phase?: string };
  const ready = find(conditions, 'Ready', 'True');
  const since = ready?.lastTransitionTime ?? metadata.creationTimestamp;
  if (ready !== undefined) return { ready: 'True', reason: ready.reason ?? '', message: '', since };
  switch (resource) {
    case 'pods':
      return { ready: phase === 'Running' || phase === 'Succeeded' ? 'True' : 'False', reason: phase, message: '', since };
    case 'namespaces':
      return { ready: phase === 'Terminating' ? 'False' : 'True', reason: phase, message: '', since };
    case 'nodes': {
      const up = nodeReady(object.status);
      return { ready: up ? 'True' : 'False', reason: up ? '' : 'NotReady', message: '', since };
    }
    case 'ips':
    case 'vips':
    case 'ovn-eips':
    case 'iptables-eips': {
      const held = hasAddress(resource === 'ips' ? object.spec : object.status);
      return { ready: held ? 'True' : 'False', reason: held ? '' : 'NoAddress', message: '', since };
    }
    default:
      return { ready: '-', reason: '', message: '', since };
  }
}

function find(conditions: readonly Condition[], type: string, status: 'True' | 'False'): Condition | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === status);
}

function nodeReady(status: unknown): boolean {
  const { conditions } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions === undefined || find(conditions, 'Ready', 'False') === undefined;
}

/** The address fields of IP, Vip, OvnEip and IptablesEIP. */
const ADDRESS_FIELDS = ['v4IpAddress', 'v6IpAddress', 'ipAddress', 'v4ip', 'v6ip', 'v4Ip', 'v6Ip', 'ip'];

function hasAddress(part: unknown): boolean {
  const texts = (part ?? {}) as Readonly<Record<string, unknown>>;
  return ADDRESS_FIELDS.some((field) => typeof texts[field] === 'string' && texts[field] !== '');
}
