/** Sessions of kubectl commands, as data: each is run on the lab and on a real cluster. */

export interface Step {
  readonly args: readonly string[];
  readonly input?: string;
  /** For `kubectl edit`: the editor applies this sed expression. */
  readonly edit?: string;
  /** Retried until it succeeds, where controllers or a check of the server need a moment. */
  readonly eventually?: boolean;
  /** `code`: only exit codes are compared, since the output depends on the version of the server. */
  readonly compare?: 'code';
}

export interface Session {
  readonly name: string;
  /** The first minor version that supports it. */
  readonly since?: number;
  readonly steps: readonly Step[];
}

const N = ['-n', 'sides'];

function words(line: string): string[] {
  return line.split(' ');
}

function say(line: string, more: Omit<Step, 'args'> = {}): Step {
  return { args: words(line), ...more };
}

function apply(object: unknown, ...flags: readonly string[]): Step {
  return { args: ['apply', ...flags, '-f', '-'], input: JSON.stringify(object) };
}

function create(object: unknown, ...flags: readonly string[]): Step {
  return { args: ['create', ...flags, '-f', '-'], input: JSON.stringify(object) };
}

const widget = (name: string, spec: object = {}, metadata: object = {}): object => ({
  apiVersion: 'lab.example.com/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec: { cidr: '10.1.0.0/16', ...spec },
});
const kit = (name: string, spec: object = {}, metadata: object = {}): object => ({
  apiVersion: 'lab.example.com/v1',
  kind: 'Kit',
  metadata: { name, namespace: 'sides', ...metadata },
  spec: { cidr: '10.1.0.0/16', ...spec },
});
const container = { name: 'main', image: 'registry.example/app:1' };
const pod = (name: string, spec: object = {}, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'sides', ...metadata },
  spec: { automountServiceAccountToken: false, containers: [container], ...spec },
});
const items = (...objects: readonly object[]): object => ({ apiVersion: 'v1', kind: 'List', items: objects });

export const SESSIONS: readonly Session[] = [
  {
    name: 'a custom object, from apply to delete',
    steps: [
      apply(widget('a', { mtu: 1400 })),
      apply(widget('a', { mtu: 1400 })),
      say('get widget a'),
      say('get widgets -o wide'),
      say('get widget a -o yaml'),
      say('get widget a -o json'),
      say('get widget a -o jsonpath={.spec.mtu}'),
      say('get widget a -o name'),
      say('get widget a --show-labels'),
      say('get widget a --no-headers'),
      say('get wi'),
      say('get lab'),
      say('describe widget a'),
      { args: ['diff', '-f', '-'], input: JSON.stringify(widget('a', { mtu: 1500 })), compare: 'code' },
      apply(widget('a', { mtu: 1500 }), '--dry-run=server'),
      apply(widget('a', { mtu: 1500 }), '--dry-run=client'),
      apply(widget('a', { mtu: 1500 }), '-o', 'yaml'),
      { args: ['widget', 'a'], edit: 's/mtu: 1500/mtu: 1450/' },
      { args: ['widget', 'a'], edit: 's/never/ever/' },
      say('label widget a tier=gold'),
      say('label widget a tier=silver'),
      say('label widget a tier=silver --overwrite'),
      say('label widget a tier-'),
      say('label widget a bad_=x'),
      say('annotate widget a example.com/note=hi'),
      say('annotate widget a example.com/note=ho'),
      { args: ['patch', 'widget', 'a', '--type=merge', '-p', '{"spec":{"mtu":67}}'] },
      { args: ['patch', 'widget', 'a', '--type=merge', '-p', '{"spec":{"mtu":"x"}}'] },
      {
        args: [
          'patch',
          'widget',
          'a',
          '--type=json',
          '-p',
          '[{"op":"test","path":"/spec/mtu","value":1},{"op":"remove","path":"/spec/mtu"}]',
        ],
      },
      { args: ['patch', 'widget', 'a', '--type=json', '-p', '[{"op":"remove","path":"/spec/nothing"}]'], compare: 'code' },
      { args: ['patch', 'widget', 'a', '-p', '{"spec":{"mtu":1460}}'], compare: 'code' },
      say('scale widget a --replicas=3'),
      say('scale widget a --replicas=3 --current-replicas=7'),
      say('get widget a -o jsonpath={.spec}'),
      say('get widget nothing'),
      say('get widget nothing --ignore-not-found'),
      say('delete widget a --dry-run=server'),
      say('delete widget a'),
      say('delete widget a'),
    ],
  },
  {
    name: 'several objects, and selectors',
    steps: [
      create(items(kit('k1', { mtu: 1000 }, { labels: { tier: 'a' } }), kit('k2', { mtu: 2000 }, { labels: { tier: 'b' } }), kit('k3'))),
      create(items(kit('k1'), kit('k4'))),
      { args: ['get', 'kits', ...N] },
      { args: ['get', 'kits', ...N, '-l', 'tier'] },
      { args: ['get', 'kits', ...N, '-l', 'tier in (a),tier!=c'] },
      { args: ['get', 'kits', ...N, '-l', '!tier'] },
      { args: ['get', 'kits', ...N, '-l', 'tier=='] },
      { args: ['get', 'kits', ...N, '-L', 'tier'] },
      { args: ['get', 'kits', ...N, '--sort-by=.spec.mtu'] },
      { args: ['get', 'kits', ...N, '--field-selector', 'metadata.name=k2'] },
      { args: ['get', 'kits', ...N, '--field-selector', 'spec.mtu=1'] },
      { args: ['get', 'kits', '-A'] },
      { args: ['get', 'kits', ...N, '--chunk-size=1', '-o', 'name'] },
      { args: ['get', 'kits', ...N, '-o', 'custom-columns=NAME:.metadata.name,MTU:.spec.mtu'] },
      { args: ['get', 'kits', ...N, '-o', 'jsonpath={range .items[*]}{.metadata.name} {.spec.mtu}{"\\n"}{end}'] },
      { args: ['get', 'kits', ...N, '-o', 'go-template={{range .items}}{{.metadata.name}} {{end}}'] },
      { args: ['get', 'kit/k1', 'kit/k2', ...N] },
      { args: ['get', 'kit', 'k1', 'none', ...N] },
      { args: ['delete', 'kits', ...N, '-l', 'tier'] },
      { args: ['delete', 'kits', '--all', ...N] },
      { args: ['get', 'kits', ...N] },
    ],
  },
  {
    name: 'errors are the same',
    steps: [
      create(widget('Bad_Name'), '--validate=false'),
      create(widget('e', { mtu: 1 }), '--validate=false'),
      create(widget('e', { mtu: 'x', tags: 'y' }), '--validate=false'),
      create(widget('e', { protocol: 'IPv5' }), '--validate=false'),
      create({ apiVersion: 'lab.example.com/v1', kind: 'Widget', metadata: { name: 'e' }, spec: {} }, '--validate=false'),
      create({ apiVersion: 'lab.example.com/v2', kind: 'Widget', metadata: { name: 'e' } }),
      create({ apiVersion: 'v1', kind: 'Gadget', metadata: { name: 'e' } }),
      create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'e', namespace: 'nowhere' } }),
      create(widget('e', {}, { labels: { 'a b': 'c' } }), '--validate=false'),
      create(widget('e', {}, { finalizers: ['a b'] }), '--validate=false'),
      create(widget('e', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }] }), '--validate=false'),
      create(pod('e', { containers: [] })),
      create(pod('e', { containers: [{ name: 'A' }] })),
      create(pod('e', { containers: [container, container] })),
      create(pod('e', { restartPolicy: 'Sometimes' })),
      say('get nothing'),
      say('get pods none -n sides'),
      say('delete ns kube-system'),
      say('create ns sides'),
      say('create ns Up'),
      say('create configmap c -n nowhere'),
      { args: ['get', 'pods', ...N, '--field-selector', 'spec.dnsPolicy=x'] },
      { args: ['get', '--raw', '/apis/none.example.com/v1'] },
    ],
  },
  {
    name: 'pods and their relatives',
    steps: [
      create(pod('p', {}, { labels: { app: 'p' } })),
      { args: ['get', 'pods', ...N] },
      { args: ['get', 'pod', 'p', ...N, '-o', 'wide'] },
      { args: ['get', 'pod', 'p', ...N, '-o', 'jsonpath={.spec.containers[0]}{.spec.dnsPolicy}{.spec.restartPolicy}{.status}'] },
      { args: ['patch', 'pod', 'p', ...N, '-p', '{"spec":{"containers":[{"name":"main","image":"registry.example/app:2"}]}}'] },
      { args: ['get', 'pod', 'p', ...N, '-o', 'jsonpath={.spec.containers[*].image}'] },
      { args: ['patch', 'pod', 'p', ...N, '-p', '{"spec":{"nodeName":"x"}}'], compare: 'code' },
      { args: ['patch', 'pod', 'p', ...N, '-p', '{"spec":{"containers":[{"name":"other","image":"registry.example/app:2"}]}}'] },
      { args: ['annotate', 'pod', 'p', ...N, 'ovn.kubernetes.io/ip_address=10.16.0.9'] },
      { args: ['wait', '--for=condition=Ready', 'pod/p', ...N, '--timeout=1s'] },
      { args: ['delete', 'pod', 'p', ...N] },
      { args: ['create', 'configmap', 'c', ...N, '--from-literal=a=b'] },
      { args: ['get', 'cm', 'c', ...N] },
      { args: ['describe', 'cm', 'c', ...N] },
      { args: ['create', 'secret', 'generic', 's', ...N, '--from-literal=a=b'] },
      { args: ['get', 'secret', 's', ...N] },
      { args: ['create', 'service', 'clusterip', 'v', ...N, '--tcp=80:8080'] },
      { args: ['get', 'svc', 'v', ...N] },
      { args: ['get', 'svc', 'v', ...N, '-o', 'jsonpath={.spec.type}{.spec.sessionAffinity}{.spec.ports}{.spec.selector}'] },
      { args: ['create', 'service', 'nodeport', 'np', ...N, '--tcp=80:8080', '--node-port=30080'] },
      { args: ['get', 'svc', 'np', ...N] },
      { args: ['create', 'role', 'r', ...N, '--verb=get', '--resource=pods'] },
      { args: ['create', 'rolebinding', 'rb', ...N, '--role=r', '--user=u'] },
      { args: ['describe', 'rolebinding', 'rb', ...N] },
      { args: ['get', 'rolebinding', 'rb', ...N, '-o', 'wide'] },
      { args: ['describe', 'ns', 'kube-public'], compare: 'code' },
      { args: ['get', 'ns', 'sides'] },
      { args: ['delete', 'svc', 'v', 'np', ...N] },
      { args: ['delete', 'cm', 'c', ...N] },
      { args: ['delete', 'secret', 's', ...N] },
    ],
  },
  {
    name: 'network policies and Events',
    steps: [
      create({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'np', namespace: 'sides' },
        spec: { podSelector: { matchLabels: { a: 'b' } }, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
      }),
      { args: ['get', 'netpol', ...N] },
      { args: ['get', 'netpol', 'np', ...N, '-o', 'jsonpath={.spec}'] },
      { args: ['describe', 'netpol', 'np', ...N] },
      create({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'e', namespace: 'sides' },
        involvedObject: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name: 'np', namespace: 'sides' },
        reason: 'Tried',
        message: 'it was tried',
        type: 'Warning',
        source: { component: 'case' },
        count: 3,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
      }),
      { args: ['get', 'events', ...N, '--field-selector', 'involvedObject.name=np', '--no-headers'] },
      { args: ['get', 'events.v1.', ...N, '--field-selector', 'involvedObject.name=np,type!=Warning'] },
      { args: ['delete', 'netpol', 'np', ...N] },
    ],
  },
  {
    name: 'explain',
    steps: [
      say('explain widget', { eventually: true, compare: 'code' }),
      say('explain widget.spec.nothing', { compare: 'code' }),
      say('explain nothing'),
      say('explain pod.spec.containers.image', { compare: 'code' }),
    ],
  },
  {
    name: 'foreground, and orphans',
    steps: [
      create(kit('owner')),
      { args: ['delete', 'kit', 'owner', ...N, '--cascade=foreground'] },
      create(kit('owner')),
      { args: ['delete', 'kit', 'owner', ...N, '--cascade=orphan'] },
      { args: ['get', 'kit', 'owner', ...N] },
      create(kit('held', {}, { finalizers: ['example.com/hold'] })),
      { args: ['delete', 'kit', 'held', ...N, '--timeout=1s'] },
      { args: ['patch', 'kit', 'held', ...N, '--type=merge', '-p', '{"metadata":{"finalizers":["example.com/other"]}}'] },
      {
        args: [
          'get',
          'kit',
          'held',
          ...N,
          '-o',
          'jsonpath={.metadata.finalizers}{.metadata.deletionGracePeriodSeconds}{.metadata.generation}',
        ],
      },
      { args: ['patch', 'kit', 'held', ...N, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'] },
      { args: ['get', 'kit', 'held', ...N] },
    ],
  },
  {
    name: 'nodes, accounts, and questions about the cluster',
    steps: [
      create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'typed', labels: { zone: 'a' } } }),
      say('cordon typed'),
      say('cordon typed'),
      say('uncordon typed'),
      say('taint node typed dedicated=net:NoSchedule'),
      say('taint node typed dedicated=net:NoSchedule'),
      say('taint node typed dedicated-'),
      say('label node typed zone=b'),
      say('get node typed -o jsonpath={.metadata.labels}'),
      say('delete node typed'),
      say('auth can-i create pods'),
      say('auth can-i delete widgets.lab.example.com'),
      say('auth can-i --list', { compare: 'code' }),
      say('api-resources --api-group=apps -o name'),
      say('api-resources --api-group=lab.example.com -o wide'),
      say('get --raw /apis/lab.example.com'),
      say('api-resources --api-group=apps --namespaced=false -o name'),
      say('explain controllerrevision', { compare: 'code' }),
      say('get --raw /healthz', { eventually: true }),
      say('get --raw /readyz', { eventually: true }),
      say('top pods'),
      say('top nodes'),
      say('cluster-info', { compare: 'code' }),
      { args: ['create', 'sa', 'typed', ...N] },
      { args: ['get', 'sa', 'typed', ...N, '-o', 'name'] },
      { args: ['delete', 'sa', 'typed', ...N] },
    ],
  },
  {
    name: 'a file is applied and replaced, and kubectl waits for it',
    steps: [
      create(kit('w', { mtu: 1000 }), '--save-config'),
      { args: ['apply', 'view-last-applied', 'kit', 'w', ...N, '-o', 'json'] },
      { args: ['replace', '-f', '-'], input: JSON.stringify(kit('w', { mtu: 1200 })) },
      { args: ['replace', '-f', '-'], input: JSON.stringify(kit('none')) },
      { args: ['wait', '--for=jsonpath={.spec.mtu}=1200', 'kit/w', ...N, '--timeout=120s'] },
      { args: ['wait', '--for=condition=Ready', 'kit/w', ...N, '--timeout=1s'] },
      { args: ['annotate', 'kit', 'w', ...N, 'a=b', '--dry-run=server'] },
      { args: ['label', 'kits', '--all', ...N, 'tier=x'] },
      { args: ['get', 'kits', ...N, '-o', 'wide', '--show-kind'] },
      { args: ['get', 'kit', 'w', ...N, '-o', 'jsonpath={.metadata.labels}'] },
      apply(kit('w', { mtu: 1300 }, { labels: { app: 'w' } }), '--prune', '-l', 'app=w', '--prune-whitelist=lab.example.com/v1/Kit'),
      { args: ['delete', 'kits', ...N, '-l', 'tier=x', '--wait=false'] },
      { args: ['wait', '--for=delete', 'kit/w', ...N, '--timeout=120s'] },
      { args: ['get', 'pods,svc,deploy,sts,ds,rs', ...N, '-l', 'none=such'] },
    ],
  },
  {
    name: 'revisions, and a pod that does not run yet',
    steps: [
      create({
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: { name: 'r', namespace: 'sides', labels: { app: 'r' } },
        data: { spec: { template: { $patch: 'replace', spec: { n: 1 } } } },
        revision: 3,
      }),
      { args: ['get', 'controllerrevisions', ...N] },
      { args: ['get', 'controllerrevision', 'r', ...N, '-o', 'jsonpath={.data} {.revision}'] },
      { args: ['patch', 'controllerrevision', 'r', ...N, '--type=merge', '-p', '{"revision":4}'] },
      { args: ['patch', 'controllerrevision', 'r', ...N, '--type=merge', '-p', '{"revision":-1}'] },
      { args: ['patch', 'controllerrevision', 'r', ...N, '--type=merge', '-p', '{"data":{"spec":null}}'], compare: 'code' },
      { args: ['delete', 'controllerrevisions', ...N, '-l', 'app=r'] },
      create(pod('idle')),
      { args: ['exec', 'idle', ...N, '--', 'ls'], compare: 'code' },
      { args: ['logs', 'nothing', ...N] },
      { args: ['exec', 'nothing', ...N, '--', 'ls'] },
      { args: ['delete', 'pod', 'idle', ...N, '--grace-period=0', '--force'] },
      { args: ['run', 'dry', ...N, '--image=registry.example/app:1', '--dry-run=server', '-o', 'name'] },
      { args: ['create', 'deployment', 'dry', ...N, '--image=registry.example/app:1', '--dry-run=server', '-o', 'name'] },
    ],
  },
];
