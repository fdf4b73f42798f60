/**
 * With `tenancy: namespaced` no pod has a port in a Subnet that never admitted its namespace, and every port of a pod sends from its own
 * addresses only. Read from objects and rows, by no rule: admitted namespaces are derived from specs after every change.
 */
import type { Condition } from '../../../src/api/kubernetes/meta.ts';
import { DEFAULT_VPC, kilnAnnotation, POD_CONDITION } from '../../../src/api/well-known.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore } from '../../../lab/apiserver/store.ts';
import { splitList } from '../../../src/net/dual.ts';
import { OWNER_KEY } from '../../../src/nb/ownership.ts';
import { specOf, SUBNETS } from './dependents.ts';
import type { Finding, Check, ConvergedCluster } from './check.ts';
import { mapOf, textOf } from './observed-state.ts';

const VPCS = 'vpcs.kubeovn.io';
const ADMITTING: ReadonlySet<string> = new Set([SUBNETS, VPCS, 'namespaces']);
const POD = 'pod/';
const NOT_ADMITTED = /Subnet (\S+) does not admit Namespace (\S+):/;

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly unknown[];
}

export class TenantIsolation implements Check {
  readonly #store: ObjectStore;
  /** `<Subnet> <namespace>` for each Namespace that a Subnet admitted at any time of the life. */
  readonly #admitted = new Set<string>();

  constructor(store: ObjectStore) {
    this.#store = store;
    store.watchAll(({ table }) => {
      if (ADMITTING.has(table)) this.#look();
    });
  }

  whenConverged({ cluster }: Pick<ConvergedCluster, 'cluster'>): readonly Finding[] {
    if (cluster.tenancy === 'open') return [];
    const findings: Finding[] = [];
    for (const row of cluster.ovn.database.rows('Logical_Switch_Port').values()) {
      const ids = mapOf(row['external_ids']);
      const owner = ids.get(OWNER_KEY) ?? '';
      const subnet = ids.get('ls') ?? '';
      if (!owner.startsWith(POD)) continue;
      const [namespace = ''] = owner.slice(POD.length).split('/');
      const report = (message: string): void => void findings.push({ kind: 'tenancy', message: `${owner} ${message}` });
      if (this.#store.get(SUBNETS, subnet) !== undefined && !this.#admitted.has(`${subnet} ${namespace}`))
        report(`has port ${textOf(row['name'])} in Subnet ${subnet}, which never admitted Namespace ${namespace}`);
      if (textOf(row['port_security']) === '') report(`has port ${textOf(row['name'])} that sends from any address`);
      if (row['addresses'] instanceof Set && row['addresses'].has('unknown'))
        report(`has port ${textOf(row['name'])} that accepts any frame`);
    }
    for (const pod of this.#store.list('pods')) {
      const [, subnet = '', namespace = ''] = NOT_ADMITTED.exec(this.#notAdmittedMessage(pod) ?? '') ?? [];
      const [named, of] = [this.#store.get(SUBNETS, subnet), this.#store.get('namespaces', namespace)];
      if (named === undefined || of === undefined || !this.#admits(named, of)) continue;
      const message = `pod/${namespace}/${pod.metadata.name} has a condition that Subnet ${subnet} does not admit Namespace ${namespace}, which it admits`;
      findings.push({ kind: 'tenancy stale', message });
    }
    return findings;
  }

  /** Whether the pod waits because its namespace is not admitted. @param key `namespace/name` */
  isNotAdmitted(key: string): boolean {
    const pod = this.#store.get('pods', key);
    return pod !== undefined && this.#notAdmittedMessage(pod) !== undefined;
  }

  /** The message of the pod's condition that reports this. */
  #notAdmittedMessage({ status }: KubeObject): string | undefined {
    const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
    return conditions.find(({ type, reason }) => type === POD_CONDITION && reason === 'NamespaceNotAdmitted')?.message;
  }

  #look(): void {
    const namespaces = this.#store.list('namespaces');
    for (const subnet of this.#store.list(SUBNETS))
      for (const namespace of namespaces)
        if (this.#admits(subnet, namespace)) this.#admitted.add(`${subnet.metadata.name} ${namespace.metadata.name}`);
  }

  #admits(subnet: KubeObject, { metadata: { name, labels = {} } }: KubeObject): boolean {
    const spec = specOf(subnet);
    const listed = (spec['namespaces'] ?? []) as readonly string[];
    const selectors = (spec['namespaceSelectors'] ?? []) as readonly Selector[];
    const named = splitList(subnet.metadata.annotations?.[kilnAnnotation.admitNamespaces] ?? '');
    if (named.includes(name)) return true;
    const vpc = spec['vpc'] === DEFAULT_VPC ? undefined : this.#store.get(VPCS, String(spec['vpc'] ?? ''));
    const ofVpc = vpc === undefined ? [] : ((specOf(vpc)['namespaces'] ?? []) as readonly string[]);
    if (listed.length + selectors.length + named.length === 0) return ofVpc.length === 0 || ofVpc.includes(name);
    // Label expressions are not evaluated here: any may match.
    const isSelected = ({ matchLabels = {}, matchExpressions = [] }: Selector): boolean =>
      matchExpressions.length > 0 || Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
    return listed.includes(name) || ofVpc.includes(name) || selectors.some(isSelected);
  }
}
