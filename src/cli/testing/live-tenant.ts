/** A tenant that lives: what tests plant faults in. */
import type { CommandScene } from './command-scene.ts';

/** Vpc `live`, its Subnet `live-net` 10.98.0.0/24, and pod `default/web` in it, which may not be bound yet. */
export async function makeLiveTenant(scene: CommandScene): Promise<void> {
  await scene.make('vpcs', { metadata: { name: 'live' } });
  await scene.make('subnets', { metadata: { name: 'live-net' }, spec: { vpc: 'live', cidrBlock: '10.98.0.0/24' } });
  await scene.controller.untilQuiet();
  await scene.make('pods', {
    metadata: { name: 'web', namespace: 'default', annotations: { 'ovn.kubernetes.io/logical_switch': 'live-net' } },
    spec: { containers: [{ name: 'main', image: 'busybox' }], terminationGracePeriodSeconds: 0 },
  });
}
