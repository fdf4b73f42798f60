/** A `RuleBench` with an external network: Vpc `blue` with Subnet `inside`, Subnet `external`, two gateway nodes. For tests of NAT. */
import type { Settings } from '../world/settings.ts';
import type { ResourceName } from '../world/resources.ts';
import type { TestObject } from './memory-objects.ts';
import { PodScene } from './pod-scene.ts';
import type { PlainRow, RuleBench } from './rule-bench.ts';

export interface NatSceneOptions {
  /** CIDRs, of one family or of both with a comma. */
  readonly inside?: string;
  readonly external?: string;
  readonly settings?: Partial<Settings>;
}

export class NatScene {
  readonly pods: PodScene;
  readonly bench: RuleBench;

  constructor({ inside = '10.5.0.0/24', external = '172.20.0.0/24', settings = {} }: NatSceneOptions = {}) {
    this.pods = new PodScene(settings);
    this.bench = this.pods.bench;
    this.gatewayNode('gw1');
    this.gatewayNode('gw2');
    this.bench.put('vpcs', { metadata: { name: 'blue' }, spec: { enableExternal: true } });
    this.bench.put('vpcs', { metadata: { name: 'outside' }, spec: {} });
    this.pods.subnet('external', { cidrBlock: external, vpc: 'outside' });
    this.pods.subnet('inside', { cidrBlock: inside, vpc: 'blue', namespaces: ['shop'] });
    this.bench.converge();
  }

  /** @param ready undefined: its kubelet has not reported yet */
  gatewayNode(
    name: string,
    labels: Readonly<Record<string, string>> = { 'ovn.kubernetes.io/external-gw': 'true' },
    ready?: boolean,
  ): TestObject {
    return this.bench.put('nodes', {
      metadata: {
        name,
        labels,
        annotations: { ...this.bench.object('nodes', name)?.metadata.annotations, 'ovn.kubernetes.io/chassis': `chassis-${name}` },
      },
      spec: {},
      status: { addresses: [], ...(ready !== undefined && { conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }] }) },
    });
  }

  put(resource: ResourceName, name: string, spec: object): void {
    this.bench.put(resource, { metadata: { name }, spec });
    this.bench.converge();
  }

  eip(name: string, spec: object = {}): void {
    this.put('ovn-eips', name, { externalSubnet: 'external', ...spec });
  }

  /** Rows of a table that Kiln owns for an object. */
  rowsOf(table: string, owner: string): readonly PlainRow[] {
    return this.bench.rows(table).filter((row) => (row['external_ids'] as Readonly<Record<string, string>>)['kiln.io/owner'] === owner);
  }
}
