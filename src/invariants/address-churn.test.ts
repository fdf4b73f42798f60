/** Random creation, deletion and removal by force of pods, Vips, EIPs, their rules and IP objects in one small Subnet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PodScene } from '../testing/pod-scene.ts';
import { addressHolders } from './address-holders.ts';
import { blockedDeletions } from './blocked-deletions.ts';
import { sharedAddresses } from '../kinds/ip/invariants/shared-addresses.ts';
import { subnetCounts } from '../kinds/subnet/invariants/subnet-counts.ts';

type Step = ((scene: PodScene) => void) & { readonly [fc.toStringMethod]?: () => string };

/** A step with a description for counterexamples. */
function step(text: string, run: (scene: PodScene) => void): Step {
  return Object.assign(run, { [fc.toStringMethod]: () => text });
}

const NAMES = ['a', 'b', 'c'] as const;
const IN_NET = { 'ovn.kubernetes.io/logical_switch': 'net' };

const named = (make: (name: string) => Step): fc.Arbitrary<Step> => fc.constantFrom(...NAMES).map(make);
const address = fc.constantFrom('', '10.80.0.3', '10.80.0.4', '10.80.0.6');

function gone(
  resource: 'pods' | 'vips' | 'ovn-eips' | 'iptables-eips' | 'ovn-fips' | 'ips',
  key: string,
  how: 'delete' | 'removeByForce',
): Step {
  return step(`${how} ${resource} ${key}`, ({ bench }) => bench[how](resource, key));
}

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  named((name) => step(`pod ${name}`, (scene) => void scene.pod(name, { annotations: IN_NET }))),
  named((name) => step(`pod own-${name}`, (scene) => void scene.pod(`own-${name}`, { annotations: { 'ovn.kubernetes.io/vip': name } }))),
  fc.tuple(fc.constantFrom(...NAMES), address, fc.constantFrom('', '', 'kube_host_vm_vip', 'switch_lb_vip')).map(([name, v4ip, type]) =>
    step(`vip ${name} ${v4ip} ${type}`, ({ bench }) => {
      if (bench.object('vips', name) === undefined)
        bench.put('vips', { metadata: { name }, spec: { subnet: 'net', v4ip, type, namespace: 'shop' } });
    }),
  ),
  fc.tuple(fc.constantFrom(...NAMES), address, fc.constantFrom('nat', 'lsp', 'lrp')).map(([name, v4Ip, type]) =>
    step(`ovn-eip e-${name} ${v4Ip} ${type}`, ({ bench }) => {
      if (bench.object('ovn-eips', `e-${name}`) === undefined)
        bench.put('ovn-eips', { metadata: { name: `e-${name}` }, spec: { externalSubnet: 'net', v4Ip, type } });
    }),
  ),
  named(
    (name) =>
      ({ bench }) =>
        void bench.put('ovn-fips', { metadata: { name: `f-${name}` }, spec: { ovnEip: `e-${name}` } }),
  ),
  named((name) =>
    step(`iptables-eip i-${name}`, ({ bench }) => {
      if (bench.object('iptables-eips', `i-${name}`) === undefined)
        bench.put('iptables-eips', { metadata: { name: `i-${name}` }, spec: { externalSubnet: 'net' } });
    }),
  ),
  fc.constantFrom('delete' as const, 'removeByForce' as const).chain((how) =>
    fc.oneof(
      named((name) => gone('pods', `shop/${name}`, how)),
      named((name) => gone('pods', `shop/own-${name}`, how)),
      named((name) => gone('vips', name, how)),
      named((name) => gone('ovn-eips', `e-${name}`, how)),
      named((name) => gone('iptables-eips', `i-${name}`, how)),
      named((name) => gone('ovn-fips', `f-${name}`, how)),
      named((name) => gone('ips', `${name}.shop`, how)),
      named((name) => gone('ips', `own-${name}.shop`, how)),
    ),
  ),
);

function violations({ bench }: PodScene): readonly string[] {
  const { world } = bench;
  const holders = addressHolders(world);
  return [...subnetCounts(world, holders), ...sharedAddresses(world, holders), ...blockedDeletions(world)].map(({ message }) => message);
}

test('after any history: counts follow from the holders of addresses, every shared address is a reported conflict, a restart writes nothing', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 5, maxLength: 25 }), fc.boolean(), (steps, converged) => {
      const scene = new PodScene();
      scene.subnet('net', { cidrBlock: '10.80.0.0/28' });
      scene.bench.converge();
      for (const each of steps) {
        each(scene);
        if (!converged) continue;
        scene.bench.converge();
        assert.deepEqual(violations(scene), []);
      }
      scene.bench.converge();
      assert.deepEqual(violations(scene), []);
      assert.equal(scene.bench.writesAfterRestart(), 0);
    }),
    { numRuns: 60 },
  );
});

test('after the deletion of all objects every address is free', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 5, maxLength: 25 }), (steps) => {
      const scene = new PodScene();
      scene.subnet('net', { cidrBlock: '10.80.0.0/28' });
      scene.bench.converge();
      for (const each of steps) {
        each(scene);
        scene.bench.step();
      }
      scene.bench.converge();
      for (const resource of ['ovn-fips', 'pods', 'vips', 'ovn-eips', 'iptables-eips', 'ips'] as const)
        for (const key of scene.bench.keys(resource)) if (!key.startsWith('node-')) scene.bench.delete(resource, key);
      scene.bench.converge();
      assert.deepEqual([scene.bench.keys('vips'), scene.bench.keys('ovn-eips'), scene.bench.keys('iptables-eips')], [[], [], []]);
      const { v4usingIPs, v4availableIPs } = scene.bench.object('subnets', 'net')?.status ?? {};
      assert.deepEqual([v4usingIPs, v4availableIPs], [0n, 13n]);
      scene.bench.delete('subnets', 'net');
      scene.bench.converge();
      assert.equal(scene.bench.object('subnets', 'net'), undefined);
      assert.deepEqual(scene.bench.rowIds('Logical_Switch').includes('net'), false);
    }),
    { numRuns: 60 },
  );
});
