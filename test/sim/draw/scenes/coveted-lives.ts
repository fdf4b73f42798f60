/**
 * Scenes of `draw-settled.ts` about what is somebody's and another one asks for by name: an address, a MAC, the gateway of a Subnet. It waits and
 * is told, and gets it when whoever has it goes.
 */
import { podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { OVN_EIPS, IPS, PODS, SUBNETS, VIPS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { create, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { Step } from '../../steps/step.ts';

const NAMESPACE = 'coveted';
const SUBNET = 'w0';
const MAC = '0a:00:00:00:0e:01';

const HAVERS = { pod: 3, kept: 2, vip: 1, eip: 1, gateway: 3 } as const;
const ASKERS = { pod: 4, kept: 1, vip: 1, eip: 1 } as const;
const THINGS = { address: 3, mac: 2, both: 1 } as const;

export function drawCoveted(random: Random): readonly Step[] {
  const address = random.pick(['10.58.0.9', '10.58.0.2']);
  const [haver, asker] = [random.weighted(HAVERS), random.weighted(ASKERS)];
  const what = haver === 'gateway' ? 'address' : random.weighted(THINGS);
  const asked = { ...(what !== 'mac' && { address }), ...(what !== 'address' && { mac: MAC }) };
  return [
    create(SUBNETS, SUBNET, { cidrBlock: '10.58.0.0/28', gateway: haver === 'gateway' ? address : '10.58.0.1' }),
    ...[inNamespace(NAMESPACE), ...cleared(), wait(1_500)],
    ...(haver === 'gateway' ? [] : asks(haver, 'w1', { address, mac: MAC })),
    ...(random.chance(0.5) ? [{ kind: 'rest' } as const] : [wait(3_000)]),
    ...asks(asker, 'w2', asked),
    ...(random.chance(0.5) ? [{ kind: 'rest' } as const] : [wait(1_000)]),
    ...(random.chance(0.5) ? [gone('w1'), vanish(IPS, `w1.${NAMESPACE}`), vanish(VIPS, 'w1'), vanish(OVN_EIPS, 'w1'), wait(1_500)] : []),
  ];
}

interface Asked {
  readonly address?: string;
  readonly mac?: string;
}

function asks(who: keyof typeof ASKERS, name: string, { address, mac }: Asked): readonly Step[] {
  switch (who) {
    case 'pod': {
      const annotations: JsonObject = {
        [podAnnotation('ovn', 'logical_switch')]: SUBNET,
        ...(address !== undefined && { [podAnnotation('ovn', 'ip_address')]: address }),
        ...(mac !== undefined && { [podAnnotation('ovn', 'mac_address')]: mac }),
      };
      return pod(NAMESPACE, name, annotations);
    }
    case 'kept': {
      const spec = { subnet: SUBNET, podName: name, namespace: NAMESPACE, podType: '', v4IpAddress: address ?? '', macAddress: mac ?? '' };
      return [create(IPS, `${name}.${NAMESPACE}`, spec)];
    }
    case 'vip':
      return [
        create(VIPS, name, {
          subnet: SUBNET,
          ...(address !== undefined && { v4ip: address }),
          ...(mac !== undefined && { macAddress: mac }),
        }),
      ];
    case 'eip':
      return [
        create(OVN_EIPS, name, {
          externalSubnet: SUBNET,
          ...(address !== undefined && { v4Ip: address }),
          ...(mac !== undefined && { macAddress: mac }),
        }),
      ];
  }
}

function gone(name: string): Step {
  return doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name, grace: 0 });
}

/** Of an earlier one of these. */
function cleared(): readonly Step[] {
  return ['w1', 'w2'].flatMap((name) => [gone(name), vanish(IPS, `${name}.${NAMESPACE}`), vanish(VIPS, name), vanish(OVN_EIPS, name)]);
}
