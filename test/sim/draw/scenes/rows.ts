/** Scenes of rows: what somebody does to Kiln's with ovn-nbctl, and what other programs put beside and into them. */
import { ipPoolAddressSet, routerToSwitchPort } from '../../../../src/api/names.ts';
import { DEFAULT_VPC } from '../../../../src/api/well-known.ts';
import { IP_POOLS, PODS, SUBNETS } from '../objects.ts';
import { drawRowChange, KEYS, set } from '../rows.ts';
import { create, doing, fault, namespace, on, pod, remove, REST, row, wait } from './steps.ts';
import type { Scene } from './scene.ts';

/** Rows are changed while all is calm, or together. */
const edited: Scene = (random) => {
  const ms = random.pick([0, 20, 400]);
  return Array.from({ length: 4 }, () => [doing(drawRowChange(random)), wait(ms)]).flat();
};

/** A set has more than its pool. */
const elements: Scene = () => [
  ...[
    create(SUBNETS, 'z0', { cidrBlock: '10.93.0.0/24' }),
    create(IP_POOLS, 'zpool', { subnet: 'z0', ips: ['10.93.0.64/28'], enableAddressSet: true }),
  ],
  ...[
    wait(2_000),
    row('Address_Set', 0, set({ addresses: ['set', ['10.93.0.64/28', '10.93.0.200']] }), ipPoolAddressSet('zpool')),
    wait(20),
  ],
];

/** Another program undoes each repair, for longer than Kiln goes along with that at once, and stops then. */
const fought: Scene = (random) => {
  const [table, place] = [random.pick(['Logical_Switch', 'Logical_Router', 'Logical_Switch_Port']), random.below(60)];
  return Array.from({ length: 8 }, () => [row(table, place, KEYS), wait(120)]).flat();
};

/** Another program has a port in a switch of Kiln's, under the name that a pod's would have or with the address that it would be given. */
const beside: Scene = (random) => {
  const stranger = { do: 'foreign', name: `z${random.below(3)}` } as const;
  return [
    ...[...namespace('beside'), create(SUBNETS, 'z1', { cidrBlock: '10.56.0.0/28' }), remove(PODS, 'b0', 'beside'), wait(1_500)],
    doing({
      ...stranger,
      what: 'port-in-ours',
      into: 'z1',
      ...random.pick([{ called: 'b0.beside' }, { addresses: '0a:00:00:00:0d:01 10.56.0.2' }]),
    }),
    ...[...(random.chance(0.5) ? [REST] : []), ...pod('beside', 'b0', on('z1')), ...pod('beside', 'b1', on('z1'))],
    ...(random.chance(0.4) ? [REST, doing({ ...stranger, what: 'remove' }), wait(500)] : []),
  ];
};

/** Right before Kiln writes into a row it is another program's, or that has put something into it; or a router port has a network more. */
const raced: Scene = (random) => [
  ...[...namespace('raced'), create(SUBNETS, 'z2', { cidrBlock: '10.42.0.0/24' }), remove(PODS, 'b8', 'raced'), wait(1_500)],
  ...[fault({ fault: 'race', how: random.pick(['disown', 'delete', 'inside']) }), ...pod('raced', 'b8', on('z2'))],
  row('Logical_Router_Port', 0, set({ networks: ['set', ['10.42.0.1/24', '10.250.0.1/24']] }), routerToSwitchPort(DEFAULT_VPC, 'z2')),
  ...[wait(300), ...(random.chance(0.5) ? [remove(SUBNETS, 'z2'), remove(PODS, 'b8', 'raced')] : []), wait(500)],
  ...[doing({ do: 'foreign', name: 'race', what: 'remove' }), wait(500)],
];

export const ROW_SCENES = { edited, elements, fought, beside, raced };
