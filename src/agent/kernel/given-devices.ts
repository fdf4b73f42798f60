/**
 * Devices of machines (`ofMachine`) whose inner end is not the agent's any more. The launcher of a virtual machine, or a runtime with a network of
 * its own, takes its addresses and its name once the interface was answered. From then on the agent only keeps the node's end up: addresses that
 * it sets again would have the kernel refuse the machine's connections.
 */
import type { DeviceName } from '../world/attachment.ts';
import type { DeviceOutput } from '../world/outputs.ts';
import type { HostState } from './host-network.ts';
import { hostEndLine } from './ip-commands.ts';

export class GivenDevices {
  /** Pairs that this process made: what is known of them is complete. */
  readonly #made = new Set<DeviceName>();
  readonly #given = new Set<DeviceName>();

  has(name: DeviceName): boolean {
    return this.#given.has(name);
  }

  /** A pair is made by this process, or completed, where an earlier one was killed in the middle. */
  make(name: DeviceName): void {
    this.#made.add(name);
    this.#given.delete(name);
  }

  /** Its pair is there from an earlier process: its machine may run. */
  find({ name, ofMachine }: DeviceOutput): void {
    if (ofMachine === true && !this.#made.has(name)) this.#given.add(name);
  }

  /** It has all that it should have, and can be answered. */
  complete({ name, ofMachine, connected }: DeviceOutput): void {
    if (ofMachine === true && connected) this.#given.add(name);
  }

  forget(name: DeviceName): void {
    this.#made.delete(name);
    this.#given.delete(name);
  }
}

/** Lines that let the packets of a machine pass the node's end. It never gets smaller: the machine has its MTU from its start. */
export function passingLines(output: DeviceOutput, { links }: HostState): readonly string[] {
  const end = links.find(({ ifname }) => ifname === output.name);
  if (end === undefined || (end.flags?.includes('UP') === true && (end.mtu ?? 0) >= output.mtu)) return [];
  return [hostEndLine({ ...output, mtu: Math.max(output.mtu, end.mtu ?? 0) })];
}
