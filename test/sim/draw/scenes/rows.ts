/** Scenes of rows: what a user does to ours with ovn-nbctl, and what other programs put beside and inside them. */
import { ipPoolAddressSet, routerToSwitchPort } from '../../../../src/api/names.ts';
import { DEFAULT_VPC } from '../../../../src/api/well-known.ts';
import { IP_POOLS, PODS, SUBNETS } from '../objects.ts';
import { drawRowChange, KEYS, set } from '../rows.ts';
import { create, operation, fault, namespace, inSubnet, pod, remove, CONVERGE, row, wait } from './steps.ts';
import type { Scene } from './scene.ts';

/** Rows are changed one after another with pauses, or all together. */
const editedRows: Scene = (random) => {
  const ms = random.pick([0, 20, 400]);
  return Array.from({ length: 4 }, () => [operation(drawRowChange(random)), wait(ms)]).flat();
};

/** An address set has more addresses than its pool. */
const extraAddresses: Scene = () => [
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

/** Another program undoes each repair, for longer than Kiln repairs the row at once, and then stops. */
const undoneRepairs: Scene = (random) => {
  const [table, place] = [random.pick(['Logical_Switch', 'Logical_Router', 'Logical_Switch_Port']), random.below(60)];
  return Array.from({ length: 8 }, () => [row(table, place, KEYS), wait(120)]).flat();
};

/** Another program has a port in a switch of ours, with the name of a pod's port or with the address that the pod would get. */
const foreignPort: Scene = (random) => {
  const foreign = { do: 'foreign', name: `z${random.below(3)}` } as const;
  return [
    ...[...namespace('beside'), create(SUBNETS, 'z1', { cidrBlock: '10.56.0.0/28' }), remove(PODS, 'b0', 'beside'), wait(1_500)],
    operation({
      ...foreign,
      what: 'port-in-ours',
      into: 'z1',
      ...random.pick([{ called: 'b0.beside' }, { addresses: '0a:00:00:00:0d:01 10.56.0.2' }]),
    }),
    ...[...(random.chance(0.5) ? [CONVERGE] : []), ...pod('beside', 'b0', inSubnet('z1')), ...pod('beside', 'b1', inSubnet('z1'))],
    ...(random.chance(0.4) ? [CONVERGE, operation({ ...foreign, what: 'remove' }), wait(500)] : []),
  ];
};

/** Right before Kiln writes a row, another program takes it, deletes it, or puts a row inside; and a router port gets one more network. */
const concurrentRowChanges: Scene = (random) => [
  ...[...namespace('raced'), create(SUBNETS, 'z2', { cidrBlock: '10.42.0.0/24' }), remove(PODS, 'b8', 'raced'), wait(1_500)],
  ...[fault({ fault: 'race', how: random.pick(['disown', 'delete', 'inside']) }), ...pod('raced', 'b8', inSubnet('z2'))],
  row('Logical_Router_Port', 0, set({ networks: ['set', ['10.42.0.1/24', '10.250.0.1/24']] }), routerToSwitchPort(DEFAULT_VPC, 'z2')),
  ...[wait(300), ...(random.chance(0.5) ? [remove(SUBNETS, 'z2'), remove(PODS, 'b8', 'raced')] : []), wait(500)],
  ...[operation({ do: 'foreign', name: 'race', what: 'remove' }), wait(500)],
];

export const ROW_SCENES = { editedRows, extraAddresses, undoneRepairs, foreignPort, concurrentRowChanges };
