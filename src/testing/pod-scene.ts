/**
 * A bench with a network that is ready: the default Vpc with its Subnets, one node, one namespace. For tests of what lives in it.
 */
import type { Rule } from '../compile/compiler.ts';
import { RULES } from '../compile/rules.ts';
import { subnetClaimant, subnetView, switchId } from '../compile/subnet-view.ts';
import { vpcClaimant } from '../compile/vpc-view.ts';
import { rowId } from '../nb/row-id.ts';
import { subnetNodePortGroup } from '../api/names.ts';
import { keysOf, pairsOf, splitPair } from '../world/domain.ts';
import { RuleBench } from './rule-bench.ts';
import type { TestObject } from './memory-objects.ts';

export interface PodInput {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly node?: string;
  readonly spec?: object;
  readonly statefulSet?: string;
  readonly namespace?: string;
}

export class PodScene {
  readonly bench: RuleBench;

  constructor(rules: readonly Rule[] = sceneRules()) {
    this.bench = new RuleBench({ rules });
    this.bench.put('vpcs', { metadata: { name: 'ovn-cluster' }, spec: {} });
    this.subnet('join', { cidrBlock: '100.64.0.0/16' });
    this.subnet('ovn-default', { cidrBlock: '10.16.0.0/16' });
    this.bench.put('nodes', { metadata: { name: 'n1' }, spec: {}, status: { addresses: [{ type: 'InternalIP', address: '192.168.1.11' }] } });
    this.namespace('shop');
    this.bench.settle();
  }

  subnet(name: string, spec: object): TestObject {
    return this.bench.put('subnets', { metadata: { name }, spec });
  }

  namespace(name: string, metadata: { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> } = {}): TestObject {
    return this.bench.put('namespaces', { metadata: { name, ...metadata } });
  }

  pod(name: string, input: PodInput = {}): TestObject {
    const { annotations, node = 'n1', statefulSet, namespace = 'shop' } = input;
    const set = statefulSet === undefined ? undefined : this.bench.object('statefulsets', `${namespace}/${statefulSet}`);
    return this.bench.put('pods', {
      metadata: {
        name,
        namespace,
        ...(annotations !== undefined && { annotations }),
        ...(set !== undefined && { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: set.metadata.name, uid: set.metadata.uid }] }),
      },
      spec: { ...(node !== '' && { nodeName: node }), restartPolicy: 'Always', ...input.spec },
    });
  }

  statefulSet(name: string, replicas: number): TestObject {
    return this.bench.put('statefulsets', { metadata: { name, namespace: 'shop' }, spec: { replicas } });
  }

  annotations(pod: string): Readonly<Record<string, string>> {
    return this.bench.object('pods', pod)?.metadata.annotations ?? {};
  }

  /** The pod's address as its annotation says. */
  addressOf(pod: string): string | undefined {
    return this.annotations(pod)['ovn.kubernetes.io/ip_address'];
  }

  /** The addresses of a port row; undefined where there is none. */
  stations(port: string): unknown {
    return this.bench.row('Logical_Switch_Port', port)?.['addresses'];
  }
}

/** The rules under test, over switches and pools as plain as can be where the rules of Subnets are not there. */
function sceneRules(): readonly Rule[] {
  return RULES.some(({ name }) => name === 'subnet-switch' || name === 'subnet-pool') ? RULES : [...RULES, ...bareNetwork];
}

const bareNetwork: readonly Rule[] = [
  {
    name: 'bare-switch',
    over: (world) => keysOf(world.subnets),
    run: (world, name) => {
      const subnet = world.subnets.get(name);
      const view = world.ask(subnetView, name);
      if (subnet === undefined || view === undefined) return [];
      const v4 = view.v4 === undefined ? {} : { v4: view.v4.cidr };
      const v6 = view.v6 === undefined ? {} : { v6: view.v6.cidr };
      const gateways = [view.v4, view.v6].flatMap((network) => (network === undefined ? [] : [network.gateway]));
      return [
        { kind: 'row', id: switchId(name), owner: subnetClaimant(subnet), rule: 'bare-switch', columns: { name } },
        { kind: 'pool', subnet: name, ...v4, ...v6, gateways, excludeIps: subnet.spec.excludeIps ?? [], named: {} },
      ];
    },
  },
  {
    name: 'bare-group',
    over: (world) => pairsOf(keysOf(world.subnets), keysOf(world.nodes)),
    run: (world, key) => {
      const [name, node] = splitPair(key);
      const subnet = world.subnets.get(name);
      const group = subnetNodePortGroup(name, node);
      return subnet === undefined ? [] : [{ kind: 'row', id: rowId('Port_Group', group), owner: subnetClaimant(subnet), rule: 'bare-group', columns: { name: group } }];
    },
  },
  {
    name: 'bare-router',
    over: (world) => keysOf(world.vpcs),
    run: (world, name) => {
      const vpc = world.vpcs.get(name);
      return vpc === undefined ? [] : [{ kind: 'row', id: rowId('Logical_Router', name), owner: vpcClaimant(vpc), rule: 'bare-router', columns: { name } }];
    },
  },
];
