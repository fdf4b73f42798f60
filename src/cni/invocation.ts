import type { DnsRequest, PreviousInterface, RouteRequest } from './agent-protocol.ts';
import { CniError } from './cni-error.ts';
import { isAtLeast, isVersion, NEWEST, type Version, VERSIONS, WITHOUT_ONE } from './versions.ts';

export const COMMANDS = ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS', 'VERSION'] as const;
export type Command = (typeof COMMANDS)[number];

/** Since which version of the specification a command exists, of those that did not always. */
const SINCE: Readonly<Partial<Record<Command, Version>>> = {
  CHECK: '0.4.0',
  GC: '1.1.0',
  STATUS: '1.1.0',
};

/** Types under which a configuration names this plugin. */
const OWN_TYPES: ReadonlySet<string> = new Set(['kube-ovn', 'kiln-cni']);

/** What a configuration says to the plugin; the runtime passes the rest, which is not read. */
export interface NetworkConfiguration {
  readonly version: Version;
  /** `type` of the configuration: of another plugin, if this one only manages addresses for it. */
  readonly type: string;
  /** Whether another plugin makes the interface and asks for addresses alone. */
  readonly addressesOnly: boolean;
  readonly socket: string;
  readonly provider: string;
  readonly routes: readonly RouteRequest[];
  readonly dns: DnsRequest | undefined;
  readonly device: DeviceConfiguration;
  /** GC: what the runtime knows. Undefined in a configuration without the list, which is no proof of anything. */
  readonly validAttachments: readonly { readonly containerId: string; readonly interfaceName: string }[] | undefined;
}

/** Fields for SR-IOV and DPDK, which the agent refuses or carries out. */
export interface DeviceConfiguration {
  readonly deviceId: string;
  readonly vfDriver: string;
  readonly vhostUserSocketVolumeName: string;
  readonly vhostUserSocketName: string;
  readonly vhostUserSocketConsumption: string;
}

/** The interface that ADD, DEL and CHECK are about. */
export interface Attachment {
  readonly containerId: string;
  /** Empty in a DEL whose namespace is gone. */
  readonly networkNamespace: string;
  readonly interfaceName: string;
  readonly pod: { readonly name: string; readonly namespace: string; readonly uid: string };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What `prevResult` says of an interface. Other interfaces in it are those of other plugins; a runtime that passes none asks about what is there alone.
 *
 * @throws CniError naming the field, for a value of another type
 */
export function readPrevious(raw: Fields, { interfaceName, networkNamespace }: Attachment): PreviousInterface | undefined {
  if (raw['prevResult'] === undefined || raw['prevResult'] === null) return undefined;
  const result = fields(raw['prevResult'], 'prevResult');
  const { ips }: { readonly ips?: unknown } = result;
  const interfaces = list(result, 'interfaces').map((one, at) => fields(one, `prevResult.interfaces[${at}]`));
  const own = interfaces.findIndex((one) => text(one, 'name') === interfaceName && text(one, 'sandbox') === networkNamespace);
  const one = interfaces[own];
  if (one === undefined) return { mac: '', addresses: [], routes: [] };
  const addresses = items(ips ?? [], 'prevResult.ips')
    .map((ip, at) => fields(ip, `prevResult.ips[${at}]`))
    .filter((ip) => ip['interface'] === own)
    .map((ip) => text(ip, 'address'));
  const routes = list(result, 'routes')
    .map((route, at) => fields(route, `prevResult.routes[${at}]`))
    .map((route) => ({ dst: text(route, 'dst'), gw: text(route, 'gw') }))
    .filter(({ dst, gw }) => dst !== '' && gw !== '');
  return { mac: text(one, 'mac'), addresses, routes };
}

/** @throws CniError for a command that the specification does not have */
export function readCommand(env: Environment): Command {
  const text = env['CNI_COMMAND'] ?? '';
  const command = COMMANDS.find((one) => one === text);
  if (command === undefined)
    throw new CniError(
      'invalidEnvironment',
      `environment variable CNI_COMMAND is ${JSON.stringify(text)}`,
      `one of ${COMMANDS.join(', ')}`,
    );
  return command;
}

/**
 * The version that a configuration asks for.
 *
 * @throws CniError when it is one that this plugin does not speak, or when the command does not exist in it
 */
function readVersion(command: Command, configuration: Fields): Version {
  const asked = configuration['cniVersion'] ?? '';
  const version = asked === '' ? WITHOUT_ONE : asked;
  const isSpoken = typeof version === 'string' && isVersion(version);
  // A DEL prints nothing, so it has no version to keep to; and a runtime repeats it with the configuration of its ADD, which another plugin may
  // have answered.
  if (command === 'DEL') return isSpoken ? version : NEWEST;
  if (!isSpoken)
    throw new CniError(
      'incompatibleVersion',
      `cniVersion ${JSON.stringify(asked)} of the network configuration is not supported`,
      `this plugin supports ${VERSIONS.join(', ')}`,
    );
  const since = SINCE[command];
  if (since !== undefined && !isAtLeast(version, since))
    throw new CniError('invalidEnvironment', `CNI_COMMAND ${command} does not exist in version ${version} of the configuration`);
  return version;
}

export type Fields = Readonly<Record<string, unknown>>;

/** @throws CniError for standard input that is no JSON object */
export function parseConfiguration(input: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch (error) {
    throw new CniError('undecodable', 'the network configuration on standard input is no JSON', String(error));
  }
  return fields(value, 'the network configuration');
}

/** @throws CniError for a version that is not spoken; or naming the field, for a value of another type or a missing socket */
export function readConfiguration(command: Command, raw: Fields): NetworkConfiguration {
  const version = readVersion(command, raw);
  const type = text(raw, 'type');
  const ipam = raw['ipam'] === undefined || raw['ipam'] === null ? undefined : fields(raw['ipam'], 'ipam');
  const addressesOnly = ipam !== undefined && !OWN_TYPES.has(type);
  const source = addressesOnly ? ipam : raw;
  const at = addressesOnly ? 'ipam.server_socket' : 'server_socket';
  const socket = text(source, 'server_socket');
  if (socket === '')
    throw new CniError(
      'invalidConfiguration',
      `field ${at} of the network configuration is missing`,
      "the path of the node agent's socket",
    );
  return {
    version,
    type,
    addressesOnly,
    socket,
    provider: text(source, 'provider') || 'ovn',
    routes: list(source, 'routes').map((route, index) => ({
      dst: text(fields(route, `routes[${index}]`), 'dst'),
      gw: text(fields(route, `routes[${index}]`), 'gw'),
    })),
    dns: (raw['dns'] ?? undefined) === undefined ? undefined : readDns(fields(raw['dns'], 'dns')),
    device: {
      deviceId: text(raw, 'deviceID'),
      vfDriver: text(raw, 'vf_driver'),
      vhostUserSocketVolumeName: text(raw, 'vhost_user_socket_volume_name'),
      vhostUserSocketName: text(raw, 'vhost_user_socket_name'),
      vhostUserSocketConsumption: text(raw, 'vhost_user_socket_consumption'),
    },
    validAttachments:
      raw['cni.dev/valid-attachments'] === undefined
        ? undefined
        : list(raw, 'cni.dev/valid-attachments').map((value) => {
            const attachment = fields(value, 'cni.dev/valid-attachments');
            return { containerId: text(attachment, 'containerID'), interfaceName: text(attachment, 'ifname') };
          }),
  };
}

const CONTAINER_ID = /^[a-zA-Z0-9][\w.-]*$/;
/** A name that Linux accepts: at most 15 bytes, no `/`, `:` or space. */
const INTERFACE_NAME = /^(?!\.{1,2}$)[^\s/:]{1,15}$/;

/** @throws CniError naming the variable */
export function readAttachment(command: Command, env: Environment): Attachment {
  const containerId = variable(env, 'CNI_CONTAINERID', CONTAINER_ID, 'letters, digits, "_", "." and "-"');
  const interfaceName = variable(env, 'CNI_IFNAME', INTERFACE_NAME, 'the name of an interface, of at most 15 characters');
  const networkNamespace = env['CNI_NETNS'] ?? '';
  // The namespace of a sandbox may be gone before its DEL.
  if (networkNamespace === '' && command !== 'DEL')
    throw new CniError('invalidEnvironment', `environment variable CNI_NETNS is missing`, 'the path of a network namespace');
  const args = new Map(
    (env['CNI_ARGS'] ?? '')
      .split(';')
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const)
      .filter(([key]) => key !== ''),
  );
  const [name, namespace] = [args.get('K8S_POD_NAME') ?? '', args.get('K8S_POD_NAMESPACE') ?? ''];
  // A DEL is about a container and an interface, and succeeds for what is gone.
  if ((name === '' || namespace === '') && command !== 'DEL')
    throw new CniError(
      'invalidEnvironment',
      'environment variable CNI_ARGS names no pod',
      'K8S_POD_NAME and K8S_POD_NAMESPACE, as kubelet gives them',
    );
  return { containerId, networkNamespace, interfaceName, pod: { name, namespace, uid: args.get('K8S_POD_UID') ?? '' } };
}

function variable(env: Environment, name: string, form: RegExp, expected: string): string {
  const value = env[name] ?? '';
  if (!form.test(value)) throw new CniError('invalidEnvironment', `environment variable ${name} is ${JSON.stringify(value)}`, expected);
  return value;
}

function readDns(raw: Fields): DnsRequest {
  const texts = (key: string): readonly string[] => list(raw, key).filter((one): one is string => typeof one === 'string');
  return { nameservers: texts('nameservers'), domain: text(raw, 'domain'), search: texts('search'), options: texts('options') };
}

function fields(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new CniError('undecodable', `${what} is no JSON object`);
  return value as Fields;
}

/** Empty if absent. */
function text(raw: Fields, key: string): string {
  const value = raw[key] ?? '';
  if (typeof value !== 'string') throw new CniError('undecodable', `field ${key} of the network configuration is no text`);
  return value;
}

/** Empty if absent. */
function list(raw: Fields, key: string): readonly unknown[] {
  return items(raw[key] ?? [], key);
}

function items(value: unknown, key: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new CniError('undecodable', `field ${key} of the network configuration is no list`);
  return value;
}
