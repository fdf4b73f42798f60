import type { SubnetFields } from '../ipam/subnet-spec.ts';
import type { PoolOutput } from './output.ts';

/** A pool in the form that the ledger reads. */
export function poolFields({ v4, v6, gateways, gatewayMacs, excludeIps, named }: PoolOutput): SubnetFields {
  return {
    cidrBlock: [v4, v6].filter((cidr) => cidr !== undefined).join(','),
    gateway: gateways.join(','),
    excludeIps,
    pools: named,
    gatewayMacs,
  };
}
