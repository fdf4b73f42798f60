/** Sentences about two NAT rules that ask for the same, and the names of rules and pods in them. */
import { commandText, nameArgument } from '../../text/command-text.ts';
import { splitKey, traitsOf } from '../../world/resources.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import { isPodUse, POD_USES } from './pod-translation.ts';
import type { Asked } from './translation.ts';

/** Why a rule cannot have what it asks for beside another one. */
export function overlapText(asked: Asked, key: string, other: Asked): string {
  const rule = ruleText(key);
  const shares = (of: (one: Asked) => readonly string[]): boolean => of(asked).some((one) => of(other).includes(one));
  const sharesAddress = shares(({ addresses }) => addresses);
  if (other.vpc !== asked.vpc && sharesAddress)
    return `${rule} has its address in Vpc ${other.vpc}, and two routers cannot both answer for it`;
  if (shares(({ claims }) => claims)) return `${rule} translates the same`;
  const what = sharesAddress ? 'external address' : 'address inside';
  return other.exclusive
    ? `${rule} is distributed and has the same ${what}: the node of its port translates that alone`
    : `${rule} has the same ${what}, and a distributed OvnFip needs that for itself: the node of its port translates it alone`;
}

export function isOfPod(key: string): boolean {
  return isPodUse(splitKey(key).namespace);
}

export function ruleText(key: string): string {
  const { namespace: resource, name } = splitKey(key);
  if (isPodUse(resource)) return `Pod ${name} (annotation ${POD_USES[resource].annotation})`;
  return `${traitsOf(resource as OvnNatRule).kind} ${name}`;
}

/** The command that shows a rule. */
export function describeRule(key: string): string {
  const { namespace: resource, name } = splitKey(key);
  if (isPodUse(resource)) {
    const pod = splitKey(name);
    return commandText`${['kubectl', 'describe', 'pod', '-n', nameArgument(pod.namespace), nameArgument(pod.name)]}`;
  }
  const { plural, group } = traitsOf(resource as OvnNatRule);
  return commandText`kubectl describe ${plural}.${group} ${name}`;
}
