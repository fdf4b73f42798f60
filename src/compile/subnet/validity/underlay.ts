/**
 * Underlay Subnets (spec.vlan): their switch reaches the network of the nodes by a port of type localnet, which Kiln does not implement.
 * Without one the switch is connected to nothing: the Subnet is not ready, and its pods wait. A port that Kube-OVN left, or that a user
 * made, is enough; so is the router port of a logical gateway.
 */
import { localnetPort } from '../../../api/names.ts';
import { rowId } from '../../../nb/row-id.ts';
import { commandText } from '../../../text/command-text.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { subnetBasics } from './spec-in-effect.ts';

/** The sentence about an underlay Subnet without the port; undefined for any other Subnet. */
export const localnetMissing: Query<string | undefined> = defineQuery('subnet-localnet-missing', (world, name) => {
  const basics = world.ask(subnetBasics, name);
  if (basics === undefined || !basics.isOvn || basics.vlan === '' || basics.routed) return undefined;
  const port = localnetPort(name);
  if (world.rows.column(rowId('Logical_Switch_Port', port), 'type') === 'localnet') return undefined;
  return (
    `Subnet ${name}: spec.vlan "${basics.vlan}" requests an underlay network, which Kiln does not implement: its switch has no port ${port} of type ` +
    `localnet, so that its pods reach each other alone; ${commandText`ovn-nbctl show ${name}`}`
  );
});
