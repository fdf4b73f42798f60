/**
 * The allocation step alone, between outputs of a test and IP objects in the World.
 */
import assert from 'node:assert/strict';
import type { IP } from '../../api/kinds/ip.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { Desired } from '../../compile/desired.ts';
import type { Output, PoolOutput } from '../../compile/output.ts';
import type { AddressRequest } from '../../world/reservations.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { World } from '../../world/world.ts';
import { AllocationStep } from '../allocation-step.ts';

export class AllocationBench {
  readonly world = new World(DEFAULT_SETTINGS);
  readonly desired = new Desired();
  readonly step = new AllocationStep(this.world, this.desired.addresses);
  #outputs: readonly Output[] = [];

  say(...outputs: readonly Output[]): this {
    this.#outputs = this.desired.replace(this.#outputs, outputs);
    return this.run();
  }

  run(): this {
    for (let round = 0; round === 0 || !this.step.quiet; round++) {
      assert.ok(round < 10, 'the allocation step converges');
      this.step.run();
    }
    return this;
  }

  /** `subnet v4 v6`, or the code of the failure. */
  answer(claimant: string): string | undefined {
    const reservation = this.world.reservations.peek(claimant);
    if (reservation === undefined) return undefined;
    return reservation.kind === 'granted' ? [reservation.subnet, reservation.v4].join(' ') : reservation.code;
  }

  /** The message of a failure; empty if there is none. */
  message(claimant: string): string {
    const reservation = this.world.reservations.peek(claimant);
    return reservation?.kind === 'failed' ? reservation.message : '';
  }

  /** An IP object holds the address. */
  hold(subnet: string, address: string): this {
    this.world.ips.set(address, ip({ subnet, address }));
    return this;
  }

  free(address: string): this {
    this.world.ips.delete(address);
    return this.run();
  }
}

export function pool(subnet: string, v4: string, more: Partial<PoolOutput> = {}): PoolOutput {
  return { kind: 'pool', subnet, v4, gateways: [v4.replace(/\d+\/.*/, '1')], excludeIps: [], named: [], gatewayMacs: [], ...more };
}

export function request(claimant: string, more: Partial<AddressRequest> = {}): Output {
  return { kind: 'address-request', request: { claimant, subnets: ['s1'], families: 'subnet', since: '2026-01-01T00:00:00Z', ...more } };
}

export interface IpOptions {
  readonly subnet: string;
  readonly address: string;
  /** By default its address. */
  readonly name?: string;
  readonly uid?: string;
  /** Undefined: without a pod. By default a pod of its own. */
  readonly podUid?: string | undefined;
}

export function ip(options: IpOptions): IP {
  const { subnet, address, name = address, uid = `ip-${name}` } = options;
  const podUid = 'podUid' in options ? options.podUid : `pod-${address}`;
  return {
    apiVersion: 'kubeovn.io/v1',
    kind: 'IP',
    metadata: {
      name,
      uid,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(podUid === undefined ? {} : { annotations: { [kilnAnnotation.podUid]: podUid } }),
    },
    spec: {
      podName: name.split('.')[0] ?? '',
      namespace: 'ns',
      subnet,
      attachSubnets: [],
      nodeName: '',
      ipAddress: address,
      v4IpAddress: address,
      v6IpAddress: '',
      attachIps: [],
      macAddress: '',
      attachMacs: [],
      containerID: '',
      podType: '',
    },
  };
}
