/** Devices of pods that run, while `ip monitor` tells of their namespaces: one that lost something is due. */
import type { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { Clock } from '../../timing/clock.ts';
import type { Listing } from '../listing/changes.ts';
import type { KernelChange } from '../listing/kernel-change.ts';
import type { DeviceName } from '../world/attachment.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { DeviceOutput, DevicePartOutput } from '../world/outputs.ts';
import type { HostNetwork } from './host-network.ts';
import { isHarm } from './pod-harm.ts';
import { Suspects } from './suspects.ts';

export interface DeviceWatchOptions {
  readonly world: NodeWorld;
  readonly host: HostNetwork;
  readonly clock: Clock;
  readonly desired: KeyedOutputs<DevicePartOutput, DeviceName>;
  readonly wake: () => void;
}

export class DeviceWatch implements Pick<Listing, 'inside' | 'missed'> {
  readonly #options: DeviceWatchOptions;
  readonly #suspects: Suspects;

  constructor(options: DeviceWatchOptions) {
    this.#options = options;
    const { clock, desired, wake } = options;
    this.#suspects = new Suspects(clock, (name) => {
      const [output] = desired.of(name);
      if (output?.kind !== 'link' && this.#kept(name) === undefined) return;
      desired.due.add(name);
      wake();
    });
  }

  readonly inside = (change: KernelChange): void => {
    for (const { ifname, link_netnsid: namespace } of this.#options.host.latest.links) {
      if (namespace !== change.inside) continue;
      const output = this.#kept(ifname as DeviceName);
      if (output !== undefined && isHarm(change, output)) this.#suspects.notice(output.name);
    }
  };

  readonly missed = (): void => {
    for (const name of this.#options.desired.ids) if (this.#kept(name) !== undefined) this.#suspects.notice(name);
  };

  /** A device of the node that is to come. */
  await(name: DeviceName): void {
    this.#suspects.notice(name);
  }

  forget(name: DeviceName): void {
    this.#suspects.forget(name);
  }

  stop(): void {
    this.#suspects.stop();
  }

  /**
   * What a device should be, also while it is written: what is taken away then may have been read already. That of a virtual machine is its
   * launcher's, and an address that another host has comes with the next request.
   */
  #kept(name: DeviceName): DeviceOutput | undefined {
    const { desired, world } = this.#options;
    const [output] = desired.of(name);
    if (output?.kind !== 'device' || !output.connected || output.ofMachine === true) return undefined;
    const observed = world.devices.peek(name);
    return observed?.kind === 'present' && (observed.duplicates ?? []).length === 0 ? output : undefined;
  }
}
