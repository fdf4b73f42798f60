/**
 * The network namespace of the node as an external gateway, as a target. Its mark is the alias of its loopback interface: one that another
 * program made is left alone.
 */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { Listing } from '../listing/changes.ts';
import { ListedTarget, type ListedTargetOptions } from '../listing/listed-target.ts';
import { namespacePath } from '../world/gateway.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { GatewayNamespaceOutput } from '../world/outputs.ts';
import { equal } from '../../engine/equal.ts';
import type { LinkJson } from './host-network.ts';
import { isNoNamespace } from './ip-observation.ts';
import { inNamespace, type Programs } from './programs.ts';
import type { Ran, Words } from './ran.ts';

export const GATEWAY_MARK = 'kiln:gateway';
/** What comes from a router leaves by the interface by which it came, so redirects would lead routers around it; IPv6 has no such key. */
const PARAMETERS = [
  'net.ipv4.ip_forward=1',
  'net.ipv6.conf.all.disable_ipv6=0',
  'net.ipv6.conf.default.disable_ipv6=0',
  'net.ipv6.conf.all.forwarding=1',
  'net.ipv4.conf.all.send_redirects=0',
  'net.ipv4.conf.default.send_redirects=0',
  'net.ipv4.conf.all.rp_filter=0',
  'net.ipv4.conf.default.rp_filter=0',
] as const;

export type SeenNamespace =
  | { readonly kind: 'absent' }
  /** `empty`: it has nothing but a loopback interface that is down, as one whose maker died. */
  | { readonly kind: 'present'; readonly ours: boolean; readonly empty: boolean; readonly complete: boolean };

/** `refuse`: it is another program's. */
type Step = 'make' | 'complete' | 'remove' | 'refuse';
interface Change {
  readonly name: string;
  readonly step: Step;
}

export interface NamespaceTargetOptions extends ListedTargetOptions {
  readonly world: NodeWorld;
  readonly namespace: string;
}

export class NamespaceTarget extends ListedTarget<GatewayNamespaceOutput, SeenNamespace, Change> {
  readonly name = 'the namespace of the external gateway';
  readonly desired = new KeyedOutputs<GatewayNamespaceOutput>(['gateway-namespace'], ({ name }) => namespaceId(name));
  /** Its interface goes with it. */
  protected readonly concerns: Listing['concerns'] = ({ part, text }) => part === 'LINK' && text.startsWith('Deleted');
  readonly #world: NodeWorld;
  readonly #namespace: string;

  constructor(options: NamespaceTargetOptions) {
    super(options);
    this.#world = options.world;
    this.#namespace = options.namespace;
  }

  protected async list(): Promise<SeenNamespace> {
    return await observeNamespace(this.programs, this.#namespace);
  }

  protected override taken(seen: SeenNamespace): void {
    const { gatewayNamespaces } = this.#world;
    if (seen.kind === 'absent' || !seen.ours) gatewayNamespaces.delete(this.#namespace);
    else if (!equal(gatewayNamespaces.peek(this.#namespace), { complete: seen.complete }))
      gatewayNamespaces.set(this.#namespace, { complete: seen.complete });
  }

  protected override identities(): Iterable<string> {
    return [namespaceId(this.#namespace)];
  }

  protected changeFor(id: string, seen: SeenNamespace): Change | undefined {
    const step = namespaceStep(seen, this.desired.of(id).length > 0);
    return step === undefined ? undefined : { name: this.#namespace, step };
  }

  protected async write({ name, step }: Change): Promise<Ran> {
    if (step === 'refuse') return { ok: false, message: `network namespace ${name} is another program's; ip netns delete ${name}` };
    // Of a container that ended the file is left, without the namespace that was mounted there.
    if (step === 'make') await this.programs.run(['ip', 'netns', 'delete', name]);
    for (const { command, input } of namespaceCommands(name, step)) {
      const ran = await this.programs.run(command, input);
      if (!ran.ok) return ran;
    }
    return { ok: true, output: '' };
  }
}

function namespaceId(name: string): string {
  return `namespace ${name}`;
}

/** @throws Error with the reason if the kernel cannot be asked */
export async function observeNamespace(programs: Programs, name: string): Promise<SeenNamespace> {
  const path = namespacePath(name);
  const ran = await programs.run(inNamespace(path, 'ip', '-json', 'link', 'show'));
  if (!ran.ok && isNoNamespace(ran.message)) return { kind: 'absent' };
  if (!ran.ok) throw new Error(ran.message);
  const links = JSON.parse(ran.output === '' ? '[]' : ran.output) as readonly LinkJson[];
  const loopback = links.find(({ ifname }) => ifname === 'lo');
  const ours = loopback?.ifalias === GATEWAY_MARK;
  const isUp = loopback?.flags?.includes('UP') === true;
  const present = { kind: 'present', ours, empty: links.length === 1 && !isUp && loopback?.ifalias === undefined } as const;
  if (!ours) return { ...present, complete: false };
  const shown = await programs.run(inNamespace(path, 'sysctl', '-e', ...PARAMETERS.map((one) => one.slice(0, one.indexOf('=')))));
  // A kernel without IPv6 has none of its keys.
  const values = new Map(shown.ok ? shown.output.split('\n').map((line) => line.split(/\s*=\s*/, 2) as [string, string]) : []);
  const isSet = PARAMETERS.every((one) => {
    const [key = '', value] = one.split('=');
    return (values.get(key) ?? value) === value;
  });
  return { ...present, complete: isUp && shown.ok && isSet };
}

/** What has to be done with a namespace. */
export function namespaceStep(seen: SeenNamespace, wanted: boolean): Step | undefined {
  if (seen.kind === 'absent') return wanted ? 'make' : undefined;
  if (!wanted) return seen.ours ? 'remove' : undefined;
  if (!seen.ours && !seen.empty) return 'refuse';
  return seen.complete ? undefined : 'complete';
}

export function namespaceCommands(
  name: string,
  step: Exclude<Step, 'refuse'>,
): readonly { readonly command: Words; readonly input?: string }[] {
  if (step === 'remove') return [{ command: ['ip', 'netns', 'delete', name] }];
  const path = namespacePath(name);
  return [
    ...(step === 'make' ? [{ command: ['ip', 'netns', 'add', name] } as const] : []),
    { command: inNamespace(path, 'ip', '-batch', '-'), input: `link set dev lo alias ${GATEWAY_MARK}\nlink set dev lo up\n` },
    { command: inNamespace(path, 'sysctl', '-eqw', ...PARAMETERS) },
  ];
}
