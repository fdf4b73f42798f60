import type { DeviceName } from '../world/attachment.ts';
import type { NodeWorld } from '../world/node-world.ts';

/**
 * Whether another program deleted a device that Open vSwitch had made. In the userspace datapath it does not notice, and makes no other one as
 * long as the port is there: so the port goes, and comes once it is gone.
 */
export function isLostDevice(world: NodeWorld, name: DeviceName): boolean {
  const device = world.devices.get(name);
  return device?.kind === 'absent' && device.lost !== undefined && device.lost === world.ports.get(name)?.opened;
}
