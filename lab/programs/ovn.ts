import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory, type Environment } from '../../src/runtime/cache-directory.ts';
import { isExecutable, onPath } from './executable.ts';
import { loaderOf } from './unpacked-programs.ts';

/** The OVN to run: the machine's own packages, or the 25.03 that the set-up unpacked into the cache. */
export type OvnRelease = 'system' | '25.03';

/** The programs of OVN and Open vSwitch that the laboratory starts. */
export type OvnProgram = (typeof PROGRAMS)[number];

const CENTRAL_PROGRAMS = [
  'ovsdb-server',
  'ovsdb-tool',
  'ovsdb-client',
  'ovn-northd',
  'ovn-nbctl',
  'ovn-sbctl',
  'ovn-trace',
  'ovn-appctl',
] as const;
const NODE_PROGRAMS = ['ovs-vswitchd', 'ovn-controller', 'ovs-vsctl', 'ovs-ofctl', 'ovs-appctl'] as const;
const PROGRAMS = [...CENTRAL_PROGRAMS, ...NODE_PROGRAMS] as const;

/** An installed OVN: argument vectors for its programs and the paths of its schemas. */
export interface OvnInstallation {
  readonly release: OvnRelease;
  /** The program and its leading arguments; append the program's own arguments. */
  readonly command: (program: OvnProgram) => readonly [string, ...string[]];
  readonly northboundSchema: string;
  readonly southboundSchema: string;
  readonly vswitchSchema: string;
}

/** The folder in the cache with OVN 25.03, unpacked from Debian 13's packages. */
export function unpackedOvnDirectory(env: Environment = process.env): string {
  return join(cacheDirectory(env), 'ovn-25.03');
}

/** Finds an installation with every program and both schemas, or undefined. */
export function findOvn(release: OvnRelease = 'system', env: Environment = process.env): OvnInstallation | undefined {
  return release === 'system' ? findSystemOvn(env) : findUnpackedOvn(unpackedOvnDirectory(env));
}

function findSystemOvn(env: Environment): OvnInstallation | undefined {
  const paths = new Map<OvnProgram, string>();
  for (const program of PROGRAMS) {
    const path = onPath(program, env);
    if (path === undefined) return undefined;
    paths.set(program, path);
  }
  const schemas = ['/usr/share/ovn', '/usr/local/share/ovn'].find((folder) => existsSync(join(folder, 'ovn-nb.ovsschema')));
  if (schemas === undefined) return undefined;
  return installation('system', schemas, join(schemas, '../openvswitch'), (program) => [paths.get(program) ?? program]);
}

function findUnpackedOvn(root: string): OvnInstallation | undefined {
  const loader = loaderOf(root);
  if (loader === undefined) return undefined;
  // Debian's alternatives choose the ovs-vswitchd of /usr/lib, and were not set up in an unpacked package.
  const folders = ['usr/sbin', 'usr/bin', 'usr/lib/openvswitch-switch'].map((folder) => join(root, folder));
  const path = (program: OvnProgram): string =>
    folders.map((folder) => join(folder, program)).find(isExecutable) ?? join(root, 'usr/bin', program);
  if (!PROGRAMS.every((program) => isExecutable(path(program)))) return undefined;
  return installation('25.03', join(root, 'usr/share/ovn'), join(root, 'usr/share/openvswitch'), (program) => loader(path(program)));
}

function installation(release: OvnRelease, schemas: string, vswitchSchemas: string, command: OvnInstallation['command']): OvnInstallation {
  return {
    release,
    command,
    northboundSchema: join(schemas, 'ovn-nb.ovsschema'),
    southboundSchema: join(schemas, 'ovn-sb.ovsschema'),
    vswitchSchema: join(vswitchSchemas, 'vswitch.ovsschema'),
  };
}
