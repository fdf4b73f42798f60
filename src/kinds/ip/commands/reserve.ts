/**
 * `kiln reserve`: reserves an address of a Subnet, the requested one or the next free one, under a name. A pod of that name gets it. Until
 * then (and with other network plugins, always) an IP object holds it, which the controller completes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { API_VERSION } from '../../../api/schema/kind.ts';
import type { IP } from '../../../api/kinds/ip.ts';
import { portName } from '../../../api/names.ts';
import type { Subnet } from '../../../api/kinds/subnet.ts';
import { DEFAULT_PROVIDER, kilnAnnotation, labelKey } from '../../../api/well-known.ts';
import { isKubeError } from '../../../kube/errors.ts';
import type { KubeObject } from '../../../kube/resource.ts';
import { formatAddress } from '../../../net/address.ts';
import { parseDualAddress } from '../../../net/dual.ts';
import { parseMac } from '../../../net/mac.ts';
import { parseDuration } from '../../../api/values/duration.ts';
import { isObjectName } from '../../../api/values/object-name.ts';
import { conditionOf } from '../../../world/conditions.ts';
import { traitsOf } from '../../../world/resources.ts';
import type { ClusterFlags, CommandIo } from '../../../cli/connection/cluster-command.ts';
import { patienceMs } from '../../../cli/connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../../../cli/errors/command-failure.ts';
import { KUBE_ADVICE } from '../../../cli/errors/error-advice.ts';
import { addressOutput, addressText, IPS, isFilled, SUBNETS } from './reserved-address.ts';
import { commandText } from '../../../text/command-text.ts';

export interface ReserveFlags extends ClusterFlags {
  readonly subnet: string;
  readonly namespace?: string;
  /** One address, or one of each family separated by a comma; any if absent. */
  readonly ip?: string;
  readonly mac?: string;
  /** The value of the annotation. */
  readonly lease?: string;
}

const FIRST_LOOK_MS = 100;
const LAST_LOOK_MS = 1_000;

/** @returns the exit code */
export async function reserve(name: string, flags: ReserveFlags, io: CommandIo): Promise<number> {
  const namespace = flags.namespace ?? io.namespace;
  checkFlags(flags);
  const subnet = await io.client.find<Subnet>(SUBNETS, { name: flags.subnet });
  if (subnet === undefined)
    throw new CommandFailure(
      EXIT.findings,
      `cannot reserve an address for ${namespace}/${name}`,
      `Subnet ${flags.subnet} does not exist`,
      'kubectl get subnets',
    );
  const { provider = '' } = subnet.spec;
  const wanted = ipObject(name, namespace, provider === '' ? DEFAULT_PROVIDER : provider, flags);
  if (!isObjectName(wanted.metadata.name))
    throw new CommandFailure(
      EXIT.usage,
      `cannot reserve an address for ${namespace}/${name}`,
      `IP ${wanted.metadata.name.slice(0, 40)}… would have a name of ${wanted.metadata.name.length} characters, and the most is 253`,
      'use a shorter name: kiln reserve --help',
    );
  if (await isMissing(namespace, io))
    io.say(`Namespace ${namespace} does not exist: a pod can have the address once there is one; ${commandText`kubectl get namespaces`}`);
  if (flags.dryRun === 'client') {
    io.out(addressOutput(flags.output, wanted as unknown as IP));
    return EXIT.fine;
  }
  const { ip, made } = await create(wanted, flags, io);
  if (flags.dryRun === 'server' || !flags.wait || isFilled(ip)) {
    if (!made) io.say(`${ip.metadata.name} is reserved already`);
    io.out(addressOutput(flags.output, ip));
    return EXIT.fine;
  }
  const filled = await untilFilled(ip, made, flags, io);
  io.say(`reserved ${addressText(filled)} for ${namespace}/${name}; to release it: ${commandText`kiln release ${filled.metadata.name}`}`);
  io.out(addressOutput(flags.output, filled));
  return EXIT.fine;
}

/** False as well for a user who may not read namespaces. */
async function isMissing(name: string, { client }: CommandIo): Promise<boolean> {
  try {
    return (await client.find(traitsOf('namespaces'), { name })) === undefined;
  } catch (error) {
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return false;
    throw error;
  }
}

function checkFlags({ ip, mac, lease }: ReserveFlags): void {
  const wrong = (flag: string, value: string, rule: string): never => {
    throw new CommandFailure(EXIT.usage, `--${flag} "${value}" cannot be used`, rule, 'kiln reserve --help');
  };
  const address = ip === undefined ? undefined : parseDualAddress(ip);
  if (address?.ok === false) wrong('ip', ip ?? '', `it ${address.problem}; write an address, or one of each family with a comma`);
  if (mac !== undefined && parseMac(mac) === undefined) wrong('mac', mac, 'it is not a unicast MAC such as 0a:00:00:00:00:01');
  if (lease !== undefined && parseDuration(lease) === undefined) wrong('lease', lease, 'it is not a duration such as 24h, 90m or 7d');
}

function ipObject(name: string, namespace: string, provider: string, flags: ReserveFlags): NewIp {
  const asked = flags.ip === undefined ? undefined : parseDualAddress(flags.ip);
  const texts = asked?.ok === true ? [asked.v4, asked.v6].flatMap((one) => (one === undefined ? [] : [formatAddress(one)])) : [];
  return {
    apiVersion: API_VERSION,
    kind: 'IP',
    metadata: {
      name: portName(name, namespace, provider),
      labels: { [labelKey.ipReserved]: 'true', [labelKey.subnet]: flags.subnet },
      ...(flags.lease !== undefined && { annotations: { [kilnAnnotation.lease]: flags.lease.trim() } }),
    },
    spec: {
      podName: name,
      namespace,
      subnet: flags.subnet,
      ipAddress: texts.join(','),
      v4IpAddress: '',
      v6IpAddress: '',
      macAddress: flags.mac === undefined ? '' : (parseMac(flags.mac) ?? ''),
      nodeName: '',
      podType: '',
      containerID: '',
      attachIps: [],
      attachMacs: [],
      attachSubnets: [],
    },
  };
}

interface NewIp extends KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, string | readonly string[]>>;
}

/** If the same reservation already exists, the command uses it. */
async function create(wanted: NewIp, flags: ReserveFlags, { client }: CommandIo): Promise<{ readonly ip: IP; readonly made: boolean }> {
  try {
    const ip = (await client.create<KubeObject>(IPS, wanted, { dryRun: flags.dryRun === 'server' })) as IP;
    return { ip, made: true };
  } catch (error) {
    if (isKubeError(error, 'KUBE_DENIED')) throw denial(wanted.metadata.name, flags.subnet, error.detail);
    if (!isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
    const ip = await client.get<IP>(IPS, wanted.metadata);
    const ask = String(wanted.spec['ipAddress']);
    const same =
      ip.metadata.labels?.[labelKey.ipReserved] === 'true' &&
      ip.metadata.deletionTimestamp === undefined &&
      ip.spec.subnet === flags.subnet &&
      (ask === '' || ask === ip.spec.ipAddress);
    if (same) return { ip, made: false };
    throw new CommandFailure(
      EXIT.findings,
      `cannot reserve an address under the name ${wanted.metadata.name}`,
      `IP ${wanted.metadata.name} exists: ${addressText(ip) || 'no address yet'} of Subnet ${ip.spec.subnet ?? ''}${ip.metadata.deletionTimestamp === undefined ? '' : ', being deleted'}`,
      commandText`kubectl get ip ${wanted.metadata.name} -o yaml`,
    );
  }
}

/** Kiln's webhook denies an address that cannot be allocated; another program's webhook or policy denies whatever it is for. */
function denial(name: string, subnet: string, detail: string): CommandFailure {
  const isOfKiln = /admission webhook "[a-z]+\.kiln\.io" denied/.test(detail);
  return isOfKiln
    ? new CommandFailure(
        EXIT.findings,
        `the address for ${name} cannot be allocated; nothing was reserved`,
        detail,
        commandText`kubectl get ips -l ${labelKey.subnet}=${subnet}`,
      )
    : new CommandFailure(EXIT.findings, `the creation of IP ${name} was denied; nothing was reserved`, detail, KUBE_ADVICE.KUBE_DENIED);
}

/**
 * Waits until the controller has filled in the IP object. If the allocator fails, the command deletes the object again: a failed command
 * leaves nothing behind.
 */
async function untilFilled(ip: IP, made: boolean, flags: ReserveFlags, io: CommandIo): Promise<IP> {
  const { name, uid } = ip.metadata;
  const until = performance.now() + patienceMs(flags);
  let printed = '';
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(wait * 1.5, LAST_LOOK_MS)) {
    const now = await io.client.find<IP>(IPS, { name });
    if (now === undefined || now.metadata.uid !== uid)
      throw new CommandFailure(
        EXIT.findings,
        `IP ${name} was deleted before it had an address`,
        'another client deleted it, or its lease ended',
        'kubectl get events',
      );
    if (isFilled(now)) return now;
    const accepted = conditionOf('ips', now, 'Accepted');
    const message = accepted?.message ?? '';
    if (accepted !== undefined && accepted.reason !== 'WaitingForSubnet') {
      if (made) await io.client.delete(IPS, { name }, { uid });
      throw new CommandFailure(
        EXIT.findings,
        `the address for ${name} cannot be allocated${made ? '; nothing was reserved' : ''}`,
        `${accepted.reason ?? ''}: ${made ? withoutCommandOn(name, message) : message}`,
        commandText`kubectl get ips -l ${labelKey.subnet}=${flags.subnet}`,
      );
    }
    if (performance.now() > until)
      throw new CommandFailure(
        EXIT.timeout,
        `IP ${name} has no address yet`,
        message === '' ? 'no controller has processed it' : message,
        `the controller processes it later; see ${commandText`kubectl get ip ${name}, or release it with kiln release ${name} --yes`}`,
      );
    if (message !== printed) io.say(message);
    printed = message;
    await sleep(wait);
  }
}

/** The condition's message without its last command, which is for the IP object that this command has deleted. */
function withoutCommandOn(name: string, message: string): string {
  const commands = ['edit ip', 'edit ips.kubeovn.io', 'delete ips.kubeovn.io'].map(
    (verb) => `; ${commandText`kubectl ${verb.split(' ')} ${name}`}`,
  );
  const last = commands.find((command) => message.endsWith(command));
  return last === undefined ? message : message.slice(0, -last.length);
}
