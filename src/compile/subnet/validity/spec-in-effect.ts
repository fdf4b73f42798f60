/**
 * The spec of a Subnet that is in effect: the present one, or, while that is refused and a network is running, the one that was last
 * accepted. All rules for what is in effect read it, so a refused edit changes nothing.
 */
import type { SubnetSpec } from '../../../api/kinds/subnet.ts';
import type { SubnetIntent } from '../../../world/intent.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { acceptedSpec } from './accepted-spec.ts';
import { subnetAcceptance } from './subnet-acceptance.ts';
import type { SubnetBasics } from './subnet-basics.ts';
import { basicsOf } from './subnet-basics.ts';

/** The Subnet with the spec in effect. Undefined if no Subnet has that name. */
export const subnetInEffect: Query<SubnetIntent | undefined> = defineQuery('subnet-in-effect', (world, name) => {
  const subnet = world.ask(subnetIntent, name);
  if (subnet === undefined || world.ask(subnetAcceptance, name).kind !== 'frozen') return subnet;
  const accepted = world.ask(acceptedSpec, name);
  return accepted === undefined ? subnet : { ...subnet, spec: accepted };
});

export const subnetBasics: Query<SubnetBasics | undefined> = defineQuery('subnet-basics', (world, name) => {
  const subnet = world.ask(subnetInEffect, name);
  return subnet === undefined ? undefined : basicsOf(world, subnet);
});

export const subnetSpec: Query<SubnetSpec | undefined> = defineQuery('subnet-spec', (world, name) => world.ask(subnetInEffect, name)?.spec);
