import { join } from 'node:path';
import type { Credentials, NodeCredentials } from './credentials.ts';

/** A program with its arguments. */
export type CommandLine = readonly [string, ...string[]];

/** etcd for a temporary cluster: no fsync, so a crash of the machine (not of a process) may lose writes. */
export function etcdCommand(program: string, directory: string, clientUrl: string, peerUrl: string): CommandLine {
  return [
    program,
    `--data-dir=${join(directory, 'etcd')}`,
    '--unsafe-no-fsync',
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--logger=zap',
    '--log-level=warn',
  ];
}

const SERVICE_RANGE = '10.96.0.0/12';
/** Older servers take one family of Services alone. */
const BOTH_FAMILIES_SINCE = 21;
const SERVICE_RANGES = `${SERVICE_RANGE},fd00:10:96::/112`;

/** How nodes reach an API server, and the range of Services. */
export interface ServingPlace {
  readonly address: string;
  readonly serviceRange: string;
}

/** @param place of one that nodes reach */
export function apiServerCommand(
  program: string,
  credentials: Credentials,
  port: number,
  etcdUrl: string,
  place: ServingPlace | undefined,
  minor: number,
): CommandLine {
  const ranges = place?.serviceRange ?? (minor < BOTH_FAMILIES_SINCE ? SERVICE_RANGE : SERVICE_RANGES);
  return [
    program,
    `--etcd-servers=${etcdUrl}`,
    `--cert-dir=${credentials.certificateFolder}`,
    `--secure-port=${port}`,
    `--token-auth-file=${credentials.tokenFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${credentials.serviceAccountKey}`,
    `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
    `--service-cluster-ip-range=${ranges}`,
    `--admission-control-config-file=${credentials.admissionConfiguration}`,
    '--allow-privileged=true',
    ...(credentials.forNodes === undefined || place === undefined ? withoutNodes() : withNodes(credentials.forNodes, place.address)),
  ];
}

/** On 127.0.0.1, with RBAC. Pods need no service account: nothing runs their containers. */
function withoutNodes(): readonly string[] {
  return [
    '--bind-address=127.0.0.1',
    // The endpoint of the Service "kubernetes" must not be a loopback address. Nothing listens at this one: it is for documents (RFC 5737).
    '--advertise-address=192.0.2.1',
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
  ];
}

/** As kubeadm has it: nodes may read and change only what is theirs. */
function withNodes({ authorityFile, serving, kubeletClient }: NodeCredentials, address: string): readonly string[] {
  return [
    // Of both families.
    '--bind-address=::',
    `--advertise-address=${address}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    `--client-ca-file=${authorityFile}`,
    `--tls-cert-file=${serving.certificate}`,
    `--tls-private-key-file=${serving.key}`,
    `--kubelet-client-certificate=${kubeletClient.certificate}`,
    `--kubelet-client-key=${kubeletClient.key}`,
    '--kubelet-preferred-address-types=InternalIP',
  ];
}

/** Not run: cloud controllers, and what gives nodes networks of their own. */
const CONTROLLERS = '*,-nodeipam,-route,-service';
/** The stand-in kubelet sends no heartbeats, so its nodes would be tainted and drained. */
const WITHOUT_HEARTBEATS = `${CONTROLLERS},-nodelifecycle`;

/** kube-controller-manager: terminates namespaces, collects garbage, creates pods of workloads. It serves no port. */
export function controllerManagerCommand(program: string, credentials: Credentials, minor: number): CommandLine {
  return [
    program,
    `--kubeconfig=${credentials.kubeconfig}`,
    `--controllers=${credentials.forNodes === undefined ? WITHOUT_HEARTBEATS : CONTROLLERS}`,
    `--service-account-private-key-file=${credentials.serviceAccountKey}`,
    `--root-ca-file=${credentials.certificate}`,
    '--leader-elect=false',
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
    '--secure-port=0',
    ...(minor < 24 ? ['--port=0'] : []),
  ];
}

/** kube-scheduler; it serves no port. */
export function schedulerCommand(program: string, credentials: Credentials): CommandLine {
  return [program, `--kubeconfig=${credentials.kubeconfig}`, '--leader-elect=false', '--secure-port=0'];
}
