/** Whether the Subnet that a custom Vpc names for its namespaces exists and is its own. */
import type { World } from '../../world/world.ts';
import type { ConditionOutput } from '../output.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vpcView } from './vpc-view.ts';
import { subnetIntent } from '../../world/intent.ts';
import { writeRejection } from '../write-rejection.ts';
import { commandText } from '../../text/command-text.ts';

/** No condition if the Vpc names none. The default Vpc has the default Subnet of the settings, unless the API server denies it. */
export function defaultSubnetCondition(world: World, name: string): readonly ConditionOutput[] {
  const vpc = world.ask(vpcView, name);
  if (vpc?.isDefault === true) return deniedSubnets(world, name);
  if (vpc === undefined || vpc.defaultSubnet === '') return [];
  const subnet = world.ask(subnetView, vpc.defaultSubnet);
  const prefix = `Vpc ${name}: spec.defaultSubnet "${vpc.defaultSubnet}"`;
  const bad = { type: 'DefaultSubnet', status: 'False', event: 'Warning' } as const;
  if (subnet === undefined) {
    const effect = 'pods of its namespaces that name no Subnet wait for it; kubectl get subnets';
    return [{ ...bad, reason: 'WaitingForSubnet', message: `${prefix}: Subnet ${vpc.defaultSubnet} does not exist; ${effect}` }];
  }
  if (subnet.vpc !== name) {
    const effect = `it is left out; ${commandText`kubectl edit vpc ${name}`}`;
    return [
      { ...bad, reason: 'Invalid', message: `${prefix} is in Vpc ${subnet.vpc}; the default Subnet of a Vpc is one of its own; ${effect}` },
    ];
  }
  return [{ type: 'DefaultSubnet', status: 'True', reason: 'Accepted', message: '' }];
}

/** The built-in Subnets that Kiln cannot create: they do not exist, so the Vpc that needs them says so. */
function deniedSubnets(world: World, vpc: string): readonly ConditionOutput[] {
  const { defaultSubnet, joinSubnet } = world.settings;
  const denied = [defaultSubnet, joinSubnet].flatMap((subnet) => {
    const rejection = world.ask(subnetIntent, subnet) === undefined ? writeRejection(world, 'subnets', subnet, 'create', '') : undefined;
    return rejection === undefined ? [] : [{ subnet, ...rejection }];
  });
  const [first] = denied;
  if (first === undefined) return [];
  const all = denied.map(({ subnet, cause }) => `Subnet ${subnet}, which the cluster needs, cannot be created: ${cause}`);
  const message = `Vpc ${vpc}: ${all.join('; ')}; ${first.next}`;
  return [{ type: 'DefaultSubnet', status: 'False', reason: 'WriteRefused', message, event: 'Warning' }];
}
