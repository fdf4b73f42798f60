/**
 * `kiln start --check`: the demo without a terminal. Proves the network's behaviour with ovn-trace, and by packets where nodes can carry
 * them; deletes everything in the worst order, and proves that nothing remains.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Controller } from '../../controller/controller.ts';
import { DEFAULT_VPC, FINALIZER } from '../../api/well-known.ts';
import { isKubeError } from '../../kube/errors.ts';
import { CONFIGURATION_NAME, WEBHOOK_CONFIGURATIONS } from '../../webhook/manifests/webhook-configuration.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import type { DemoPod } from '../laboratory/demo.ts';
import { DEMO_PODS, demoObjects, demoPods, IPS, NAMESPACES, SUBNETS, TENANTS, VPCS } from '../laboratory/demo.ts';
import { EXTERNAL_KINDS, ExternalProofs } from '../laboratory/external-proofs.ts';
import type { Laboratory } from '../laboratory/laboratory.ts';
import { provePackets } from '../laboratory/packet-proofs.ts';
import type { Progress } from '../output/progress.ts';
import { seconds } from '../output/progress.ts';
import { print } from '../output/terminal.ts';
import { wrapped } from '../output/wrapped.ts';

export interface CheckParts {
  readonly lab: Laboratory;
  readonly controller: Controller;
  readonly progress: Progress;
  /** Whether the admission webhook is configured. */
  readonly webhook: boolean;
}

interface RunningPod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

interface Located extends DemoPod {
  readonly ip: string;
  readonly mac: string;
}

const PATIENCE_MS = 30_000;

export async function check({ lab, controller, progress, webhook }: CheckParts): Promise<number> {
  const proofs = new Proofs(progress);
  const before = await inventory(lab);
  let pods: readonly Located[] = [];
  await proofs.prove('every pod of the demo runs with an address of its own Subnet', async () => {
    for (const { resource, object } of demoObjects()) await lab.client.create(resource, object);
    pods = await until('all pods run', () => locate(lab));
    await lab.ovn.nbctl('--wait=sb', 'sync');
    return `${pods.length} pods, ${TENANTS.length} tenants, the same networks in both`;
  });
  for (const tenant of TENANTS) {
    const own = pods.filter((pod) => pod.tenant === tenant);
    await proofs.prove(`${tenant}: pods reach each other across Subnets`, () => reaches(lab, own));
  }
  await proofs.prove('the tenants do not reach each other', () => isolated(lab, pods));
  const { packets } = lab;
  if (packets !== undefined) await provePackets({ client: lab.client, packets, pods }, (what, proof) => proofs.prove(what, proof));
  const external = new ExternalProofs(lab, (what, proof) => proofs.prove(what, proof));
  await external.run();
  await proofs.prove('a fresh controller plans nothing', async () => {
    await controller.untilQuiet();
    const { rows, objects } = controller.plan();
    if (rows.length + objects.length > 0)
      throw new Error(
        `the plan is not empty: ${[...rows.map(({ id }) => id), ...objects.map(({ resource, name }) => `${resource}/${name}`)].slice(0, 5).join(', ')}`,
      );
    return 'empty plan';
  });
  if (webhook)
    await proofs.prove('the admission webhook denies a network that overlaps, and the deletion of what the cluster needs', () =>
      denials(lab),
    );
  await external.remove();
  await proofs.prove('deletion in the worst order (Vpcs, Subnets, pods, namespaces): objects in use wait and report their blockers', () =>
    deleteAll(lab),
  );
  await proofs.prove('the API server is as empty as before', async () => {
    const left = await until('everything is gone', async () => {
      const now = await inventory(lab);
      return now.objects.join('\n') === before.objects.join('\n') ? now : undefined;
    });
    return `${left.objects.length} objects, the same as before`;
  });
  await proofs.prove('OVN is as empty as before', async () => {
    await controller.untilQuiet();
    const left = await until('no row is left', async () => {
      const now = await inventory(lab);
      return now.rows.join('\n') === before.rows.join('\n') ? now : undefined;
    });
    return `${left.rows.length} rows, the same as before`;
  });
  return proofs.conclude();
}

/** One line if it fits the terminal; else the detail follows, its quotations each on a line of its own. */
export function proofLines(mark: string, what: string, detail: string, tookMs: number, columns = process.stdout.columns || 100): string[] {
  const line = `${mark} ${what}: ${detail}  ${seconds(tookMs)}`;
  if (line.length <= columns) return [line];
  return [
    ...wrapped(`${mark} ${what}  ${seconds(tookMs)}`, columns),
    ...detail.split(/(?<="), (?=")/).flatMap((part) => wrapped(part, columns, '    ')),
  ];
}

/** Prints the result of each proof, with its duration. */
class Proofs {
  readonly #progress: Progress;
  #failed = 0;
  #made = 0;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  async prove(what: string, proof: () => Promise<string>): Promise<void> {
    const start = performance.now();
    this.#made++;
    try {
      print(proofLines('✔', what, await proof(), performance.now() - start));
    } catch (error) {
      this.#failed++;
      print(proofLines('✖', what, error instanceof Error ? error.message : String(error), performance.now() - start));
    }
  }

  conclude(): number {
    this.#progress.say(`${this.#made - this.#failed} of ${this.#made} proofs hold`);
    return this.#failed === 0 ? 0 : 1;
  }
}

async function locate(lab: Laboratory): Promise<readonly Located[] | undefined> {
  const found: Located[] = [];
  for (const pod of demoPods()) {
    const live = await lab.client.get<RunningPod>(DEMO_PODS, pod);
    const annotations = live.metadata.annotations ?? {};
    const ip = annotations['ovn.kubernetes.io/ip_address'];
    const mac = annotations['ovn.kubernetes.io/mac_address'];
    if (live.status?.phase !== 'Running' || ip === undefined || mac === undefined || live.status.podIP !== ip) return undefined;
    if (annotations['ovn.kubernetes.io/logical_switch'] !== pod.subnet)
      throw new Error(
        `pod ${pod.namespace}/${pod.name} is in Subnet ${annotations['ovn.kubernetes.io/logical_switch'] ?? ''}, not in ${pod.subnet}`,
      );
    found.push({ ...pod, ip, mac });
  }
  return found;
}

async function reaches(lab: Laboratory, pods: readonly Located[]): Promise<string> {
  let traced = 0;
  for (const from of pods) {
    for (const to of pods) {
      if (from === to) continue;
      const ports = await deliveredTo(lab, from, to.ip, from.subnet === to.subnet ? to.mac : await routerMac(lab, from));
      if (!ports.includes(`${to.name}.${to.namespace}`))
        throw new Error(
          `a packet from ${from.namespace}/${from.name} to ${to.ip} does not arrive at ${to.namespace}/${to.name}; it arrives at: ${ports.join(', ') || 'no port'}`,
        );
      traced++;
    }
  }
  return `${traced} paths traced`;
}

/** Every pod sends to every address of the other tenant: only a pod of its own tenant may receive the packet. */
async function isolated(lab: Laboratory, pods: readonly Located[]): Promise<string> {
  let traced = 0;
  for (const from of pods) {
    for (const to of pods) {
      if (from.tenant === to.tenant) continue;
      const targets = [to.mac, await routerMac(lab, from)];
      for (const mac of targets) {
        const ports = await deliveredTo(lab, from, to.ip, mac);
        const stranger = ports.find((port) => !port.includes(`.${from.tenant}-`));
        if (stranger !== undefined) throw new Error(`a packet from ${from.namespace}/${from.name} to ${to.ip} arrives at ${stranger}`);
        traced++;
      }
    }
  }
  return `${traced} attempts traced`;
}

async function routerMac(lab: Laboratory, pod: Located): Promise<string> {
  return (await lab.ovn.nbctl('get', 'Logical_Router_Port', `${pod.tenant}-${pod.subnet}`, 'mac')).trim().replaceAll('"', '');
}

/** The pod ports to which ovn-trace delivers an ICMP packet. */
async function deliveredTo(lab: Laboratory, from: Located, ip: string, mac: string): Promise<string[]> {
  const flow = `inport == "${from.name}.${from.namespace}" && eth.src == ${from.mac} && eth.dst == ${mac} && ip4.src == ${from.ip} && ip4.dst == ${ip} && ip.ttl == 64 && icmp4.type == 8`;
  const trace = await lab.ovn.trace('--minimal', from.subnet, flow);
  return [...trace.matchAll(/output\("([^"]+)"\)/g)].map(([, port]) => port ?? '');
}

/** Afterwards the webhook is removed: the rest of the check works without it. */
async function denials({ client }: Laboratory): Promise<string> {
  const [tenant] = TENANTS;
  const said: string[] = [];
  const denied = async (what: string, request: Promise<unknown>): Promise<void> => {
    const error: unknown = await request.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!isKubeError(error)) throw new Error(`${what} was not denied`);
    said.push(error.detail);
  };
  const overlapping = { metadata: { name: 'overlapping' }, spec: { vpc: tenant, cidrBlock: '10.0.0.0/8' } };
  await denied('deletion of the default Vpc', client.delete(VPCS, { name: DEFAULT_VPC }, { dryRun: true }));
  await denied('a network around those of the tenant', client.create(SUBNETS, overlapping));
  await client.delete(WEBHOOK_CONFIGURATIONS, { name: CONFIGURATION_NAME });
  return said.map((text) => `"${text}"`).join(', ');
}

async function deleteAll(lab: Laboratory): Promise<string> {
  const { client } = lab;
  for (const name of TENANTS) await client.delete(VPCS, { name });
  for (const { object } of demoObjects().filter(({ resource }) => resource === SUBNETS)) await client.delete(SUBNETS, object.metadata);
  const blocked = await until('Vpcs and Subnets report their blockers', async () => {
    const messages: string[] = [];
    for (const [resource, name] of [
      ...TENANTS.map((tenant) => [VPCS, tenant] as const),
      ...TENANTS.map((tenant) => [SUBNETS, `${tenant}-web`] as const),
    ]) {
      const object = await client.find<
        KubeObject & {
          readonly status?: {
            readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
          };
        }
      >(resource, { name });
      const condition = object?.status?.conditions?.find(({ type, status }) => type === 'DeletionBlocked' && status === 'True');
      if (condition?.message === undefined) return undefined;
      if (object?.metadata.finalizers?.includes(FINALIZER) !== true)
        throw new Error(`${resource.kind} ${name} is blocked and has no finalizer`);
      messages.push(condition.message);
    }
    return messages;
  });
  for (const pod of demoPods()) await client.delete(DEMO_PODS, pod);
  for (const { object } of demoObjects().filter(({ resource }) => resource === NAMESPACES))
    await client.delete(NAMESPACES, object.metadata);
  return `"${blocked[0] ?? ''}"`;
}

interface Inventory {
  readonly objects: readonly string[];
  readonly rows: readonly string[];
}

const INVENTORIED: readonly Resource[] = [VPCS, SUBNETS, IPS, NAMESPACES, DEMO_PODS, ...EXTERNAL_KINDS];
const TABLES = [
  'Logical_Switch',
  'Logical_Router',
  'Logical_Switch_Port',
  'Logical_Router_Port',
  'Logical_Router_Static_Route',
  'Logical_Router_Policy',
  'Load_Balancer',
  'Port_Group',
  'Address_Set',
  'ACL',
  'DHCP_Options',
  'NAT',
  'Gateway_Chassis',
];

/** Everything in the API server by name, and every row of OVN by UUID: read from the servers, not from the controller. */
async function inventory(lab: Laboratory): Promise<Inventory> {
  const objects: string[] = [];
  for (const resource of INVENTORIED) {
    for (const { metadata } of await lab.client.listAll(resource))
      objects.push(`${resource.kind} ${metadata.namespace ?? ''}/${metadata.name} ${metadata.uid ?? ''}`);
  }
  const rows: string[] = [];
  for (const table of TABLES) {
    const listed = await lab.ovn.nbctl('--bare', '--columns=_uuid', 'list', table);
    for (const uuid of listed.split('\n')) if (uuid.trim() !== '') rows.push(`${table} ${uuid.trim()}`);
  }
  return { objects: objects.toSorted(), rows: rows.toSorted() };
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`after ${seconds(PATIENCE_MS)} not reached: ${what}`);
    await sleep(50);
  }
}
