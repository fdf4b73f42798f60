/** The steps of a node's history: plain data, drawn from a seed, and applied to the node. */
import { annotationKey, podAnnotation } from '../../../src/api/well-known.ts';
import type { ApiFault, TransactionFault } from '../cluster/armed-faults.ts';
import type { Random } from '../cluster/random.ts';
import type { Foreign, Harm } from './other-hands.ts';
import { harm, makeForeign } from './other-hands.ts';
import { type InterfaceName, PROVIDERS, type RunningPod } from './kubelet.ts';
import { SETTINGS } from './simulated-agent.ts';
import type { SimulatedNode } from './simulated-node.ts';
import { applyNetworkStep, networkIsUsed, type NetworkStep } from './underlay.ts';

export type NodeStep =
  | NetworkStep
  /** `nonsense`: an annotation is wrong at first. */
  | { readonly do: 'pod'; readonly name: string; readonly second: boolean; readonly annotateMs: number; readonly nonsense: boolean }
  | { readonly do: 'delete'; readonly name: string; readonly how: 'graceful' | 'force' | 'forget' }
  /** As a StatefulSet does: the next pod has the name and the address, and may come before the sandbox of the first is removed. */
  | { readonly do: 'recreate'; readonly name: string; readonly annotateMs: number; readonly removed: boolean }
  | { readonly do: 'sandbox'; readonly name: string; readonly first: 'old' | 'new'; readonly keepsNamespace: boolean }
  | { readonly do: 'stray-removal' }
  | { readonly do: 'collect' }
  | { readonly do: 'subnet'; readonly mtu: number; readonly natOutgoing: boolean }
  /** Of what a pod gets, while it runs; 0 for none. */
  | { readonly do: 'limit'; readonly name: string; readonly rate: number }
  | { readonly do: 'foreign'; readonly what: Foreign; readonly number: number }
  | { readonly do: 'harm'; readonly what: Harm; readonly number: number }
  | { readonly do: 'kill'; readonly afterWrites: number; readonly restartMs: number }
  | { readonly do: 'api'; readonly what: ApiFault }
  | { readonly do: 'api-away'; readonly ms: number }
  | { readonly do: 'watches'; readonly how: 'break' | 'gone' | 'late' | 'twice'; readonly plural: string; readonly ms: number }
  | { readonly do: 'short-list'; readonly plural: string; readonly empty: boolean }
  | { readonly do: 'transaction'; readonly what: TransactionFault }
  | { readonly do: 'database'; readonly how: 'disconnect' | 'restart' | 'replaced'; readonly downMs: number }
  | { readonly do: 'programs'; readonly times: number; readonly done: boolean }
  | { readonly do: 'reboot'; readonly downMs: number; readonly removedFirst: boolean }
  | { readonly do: 'wait'; readonly ms: number }
  /** Faults end, everything becomes quiet, and everything is checked. `empty`: after all pods are gone. */
  | { readonly do: 'converge'; readonly empty?: true };

const PODS = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
const PLURALS = ['pods', 'nodes', 'subnets'] as const;
const FOREIGN: readonly Foreign[] = ['link', 'port', 'bridge', 'key', 'table', 'rule', 'route', 'firewall', 'same-port'];
const HARM: readonly Harm[] = [
  'link',
  'link-down',
  'link-mtu',
  'pod-address',
  'pod-route',
  'pod-link',
  'pod-mac',
  'queue',
  'keys',
  'mirror-link',
  'port',
  'iface-id',
  'table',
  'flush',
  'node-device',
  'node-link',
  'node-address',
  'node-routes',
  'node-port',
  'settings',
];

export function drawStep(random: Random): NodeStep {
  const name = random.pick(PODS);
  const annotateMs = random.pick([1, 20, 300, 5_000]);
  const plural = random.pick(PLURALS);
  switch (
    random.weighted({
      ...{ pod: 22, delete: 12, recreate: 8, sandbox: 6, 'stray-removal': 1, collect: 3, subnet: 2, limit: 3, foreign: 5, harm: 8 },
      ...{ kill: 8, api: 4, 'api-away': 2, watches: 5, 'short-list': 2, transaction: 4, database: 3, programs: 4, reboot: 1, wait: 28 },
    })
  ) {
    case 'pod':
      return { do: 'pod', name, second: random.chance(0.25), annotateMs, nonsense: random.chance(0.1) };
    case 'delete':
      return { do: 'delete', name, how: random.weighted({ graceful: 6, force: 3, forget: 1 }) };
    case 'recreate':
      return { do: 'recreate', name, annotateMs, removed: random.chance(0.5) };
    case 'sandbox':
      return { do: 'sandbox', name, first: random.pick(['old', 'new'] as const), keepsNamespace: random.chance(0.6) };
    case 'stray-removal':
      return { do: 'stray-removal' };
    case 'collect':
      return { do: 'collect' };
    case 'subnet':
      return { do: 'subnet', mtu: random.pick([0, 1_300, 1_380]), natOutgoing: random.chance(0.5) };
    case 'limit':
      return { do: 'limit', name, rate: random.pick([0, 3, 7]) };
    case 'foreign':
      return { do: 'foreign', what: random.pick(FOREIGN), number: random.below(3) };
    case 'harm':
      return { do: 'harm', what: random.pick(HARM), number: random.below(6) };
    case 'kill':
      return { do: 'kill', afterWrites: random.below(9), restartMs: random.pick([1, 100, 8_000]) };
    case 'api': {
      const fate = random.pick(['too-many', 'unavailable', 'error-after', 'lost-after', 'conflict', 'gone'] as const);
      return {
        do: 'api',
        what: { sort: random.pick(['write', 'read'] as const), fate, after: random.below(3), times: 1 + random.below(3) },
      };
    }
    case 'api-away':
      return { do: 'api-away', ms: random.pick([500, 20_000, 90_000]) };
    case 'watches':
      return { do: 'watches', how: random.pick(['break', 'gone', 'late', 'twice'] as const), plural, ms: random.pick([50, 3_000]) };
    case 'short-list':
      return { do: 'short-list', plural, empty: random.chance(0.5) };
    case 'transaction':
      return { do: 'transaction', what: random.pick(['lose-request', 'lose-reply', 'reject'] as const) };
    case 'database':
      return { do: 'database', how: random.weighted({ disconnect: 4, restart: 3, replaced: 1 }), downMs: random.pick([1, 3_000]) };
    case 'programs':
      return { do: 'programs', times: 1 + random.below(4), done: random.chance(0.4) };
    case 'reboot':
      return { do: 'reboot', downMs: random.pick([100, 30_000]), removedFirst: random.chance(0.5) };
    case 'wait':
      return { do: 'wait', ms: random.pick([1, 5, 20, 100, 1_000, 7_000]) };
  }
}

/** Everything but waiting and convergence, which take time. */
export function apply(node: SimulatedNode, step: NodeStep): void {
  switch (step.do) {
    case 'pod':
      if (!node.pods.has(step.name)) createPod(node, step.name, step.second ? ['eth0', 'net1'] : ['eth0'], step.annotateMs, step.nonsense);
      return;
    case 'delete':
      return removePod(node, step.name, step.how);
    case 'recreate': {
      const pod = node.pods.get(step.name);
      if (pod === undefined) return;
      const ended = endPod(node, pod);
      node.request('v1/pods', 'delete', 'default', { metadata: { name: pod.name } });
      node.pods.delete(pod.name);
      if (step.removed) void ended.then(() => apply(node, { ...step, do: 'pod', second: pod.interfaces.length > 1, nonsense: false }));
      else createPod(node, pod.name, pod.interfaces, step.annotateMs, false);
      return;
    }
    case 'sandbox': {
      const [sandbox] = readyOf(node, step.name);
      if (sandbox !== undefined) void node.kubelet.replace(sandbox, step.first, step.keepsNamespace);
      return;
    }
    case 'stray-removal':
      return void node.kubelet.strayRemoval();
    case 'collect':
      return void node.kubelet.collect();
    case 'subnet':
      node.request('kubeovn.io/v1/subnets', 'patch', '', {
        metadata: { name: 'ovn-default' },
        spec: { mtu: step.mtu === 0 ? null : step.mtu, natOutgoing: step.natOutgoing },
      });
      return;
    case 'limit':
      return limitPod(node, step.name, step.rate);
    case 'foreign':
      return node.byHand('other', () => makeForeign(node, step.what, step.number));
    case 'harm':
      return node.byHand('other', () => harm(node, step.what, step.number));
    case 'kill':
      return node.killAfterWrites(step.afterWrites, step.restartMs);
    case 'api':
      return node.faults.arm(step.what);
    case 'api-away':
      node.awayUntil = node.time.now + step.ms;
      return node.agent?.transport.breakWatches();
    case 'watches':
      if (step.how === 'break') node.agent?.transport.breakWatches(step.plural);
      else if (step.how === 'late') node.faults.delay(step.plural, step.ms);
      else if (step.how === 'twice') node.faults.repeat(step.plural, 5);
      else node.forgetHistory(step.plural);
      return;
    case 'short-list':
      node.shortList = step;
      return node.forgetHistory(step.plural);
    case 'transaction':
      return node.faults.armTransaction(step.what);
    case 'database':
      return database(node, step.how, step.downMs);
    case 'programs':
      node.failing = { left: step.times, done: step.done };
      return;
    case 'reboot':
      return node.reboot(step.downMs, step.removedFirst);
    case 'network':
    case 'network-harm':
      return applyNetworkStep(node, step);
    case 'wait':
    case 'converge':
      return;
  }
}

/** Faults and other programs are all that exists at the start: the objects of the cluster, written by the controller. */
export function begin(node: SimulatedNode): void {
  const { node: name } = SETTINGS;
  const own = (suffix: Parameters<typeof podAnnotation>[1]): string => podAnnotation('ovn', suffix);
  node.request('v1/nodes', 'create', '', { metadata: { name }, status: { addresses: [{ type: 'InternalIP', address: '192.0.2.11' }] } });
  const subnet = (called: string, spec: object): void =>
    void node.request('kubeovn.io/v1/subnets', 'create', '', { metadata: { name: called }, spec: { protocol: 'IPv4', ...spec } });
  subnet('ovn-default', { vpc: 'ovn-cluster', cidrBlock: '10.16.0.0/16', gateway: '10.16.0.1', natOutgoing: true });
  subnet('join', { vpc: 'ovn-cluster', cidrBlock: '100.64.0.0/16', gateway: '100.64.0.1' });
  subnet('net1', { vpc: 'tenant', cidrBlock: '10.17.0.0/16', gateway: '10.17.0.1', provider: PROVIDERS.net1 });
  node.time.after(50, () => {
    const annotations = {
      [own('allocated')]: 'true',
      [own('ip_address')]: '100.64.0.2',
      [own('mac_address')]: '00:00:00:01:00:02',
      [own('cidr')]: '100.64.0.0/16',
      [own('gateway')]: '100.64.0.1',
      [annotationKey.portName]: `node-${name}`,
    };
    node.request('v1/nodes', 'patch', '', { metadata: { name, annotations } });
  });
}

/** What the controller writes for an interface; the judge expects the same. */
export function annotationsOf(name: string, interfaceName: InterfaceName): Readonly<Record<string, string>> {
  const place = PODS.indexOf(name as (typeof PODS)[number]) + 10;
  const network = interfaceName === 'eth0' ? '10.16' : '10.17';
  const key = (suffix: Parameters<typeof podAnnotation>[1]): string => podAnnotation(PROVIDERS[interfaceName], suffix);
  return {
    [key('allocated')]: 'true',
    [key('routed')]: 'true',
    [key('ip_address')]: `${network}.0.${place}`,
    [key('mac_address')]: `00:00:00:${network.slice(-2)}:00:${place}`,
    [key('cidr')]: `${network}.0.0/16`,
    [key('gateway')]: `${network}.0.1`,
    [key('logical_switch')]: interfaceName === 'eth0' ? 'ovn-default' : 'net1',
  };
}

/** All of them, as a drain does. */
export function removeAll(node: SimulatedNode): void {
  for (const name of [...node.pods.keys()]) removePod(node, name, 'graceful');
}

function createPod(node: SimulatedNode, name: string, interfaces: readonly InterfaceName[], annotateMs: number, nonsense: boolean): void {
  const error = node.request('v1/pods', 'create', 'default', {
    metadata: { name },
    spec: { nodeName: SETTINGS.node, containers: [{ name: 'c', image: 'i' }] },
  });
  if (error !== undefined) throw new Error(error);
  const uid = node.lab.store.get('pods', `default/${name}`)?.metadata.uid ?? '';
  const pod: RunningPod = { name, uid, interfaces, wanted: true };
  node.pods.set(name, pod);
  const annotate = (more: object): void => {
    if (node.pods.get(name) !== pod) return;
    const annotations = Object.assign({}, ...interfaces.map((one) => annotationsOf(name, one)), more) as Record<string, string>;
    node.request('v1/pods', 'patch', 'default', { metadata: { name, annotations } });
  };
  if (nonsense) node.time.after(annotateMs, () => annotate({ [podAnnotation('ovn', 'ip_address')]: 'none' }));
  node.time.after(nonsense ? annotateMs + 2_000 : annotateMs, () => annotate({}));
  void node.kubelet.start(pod);
}

/** The judge expects the same. */
export const RATE = podAnnotation('ovn', 'ingress_rate');

function limitPod(node: SimulatedNode, name: string, rate: number): void {
  if (!node.pods.has(name)) return;
  node.request('v1/pods', 'patch', 'default', { metadata: { name, annotations: { [RATE]: rate === 0 ? null : String(rate) } } });
}

async function endPod(node: SimulatedNode, pod: RunningPod): Promise<void> {
  pod.wanted = false;
  await Promise.all(node.kubelet.sandboxesOf(pod).map((sandbox) => node.kubelet.stop(sandbox)));
}

function removePod(node: SimulatedNode, name: string, how: 'graceful' | 'force' | 'forget'): void {
  const pod = node.pods.get(name);
  if (pod === undefined) return;
  const gone = (): void => {
    if (node.pods.get(name) !== pod) return;
    node.pods.delete(name);
    node.request('v1/pods', 'delete', 'default', { metadata: { name } });
  };
  if (how === 'forget') {
    pod.wanted = false;
    for (const sandbox of node.kubelet.sandboxesOf(pod)) node.kubelet.forget(sandbox);
    return gone();
  }
  if (how === 'force') gone();
  void endPod(node, pod).then(gone);
}

function readyOf(node: SimulatedNode, name: string): ReturnType<SimulatedNode['kubelet']['sandboxesOf']> {
  const pod = node.pods.get(name);
  return pod === undefined ? [] : node.kubelet.sandboxesOf(pod).filter(({ state }) => state === 'ready');
}

function database(node: SimulatedNode, how: 'disconnect' | 'restart' | 'replaced', downMs: number): void {
  if (how === 'disconnect') return node.vswitch.disconnect();
  node.vswitch.stop();
  // What the interface had is in the database alone: see README.md.
  if (how === 'replaced' && !networkIsUsed(node)) node.replaceDatabase();
  node.vswitch.restart();
  node.time.after(downMs, () => node.vswitch.start());
}
