import { join } from 'node:path';
import type { Credentials } from './credentials.ts';

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

/** kube-apiserver on 127.0.0.1 with RBAC. Pods need no service account: nothing here runs their containers. */
export function apiServerCommand(program: string, credentials: Credentials, port: number, etcdUrl: string): CommandLine {
  return [
    program,
    `--etcd-servers=${etcdUrl}`,
    `--cert-dir=${credentials.certificateFolder}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    // The endpoints of the Service "kubernetes" must not be loopback addresses.
    '--endpoint-reconciler-type=none',
    `--token-auth-file=${credentials.tokenFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${credentials.serviceAccountKey}`,
    `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.96.0.0/12',
    '--disable-admission-plugins=ServiceAccount',
    `--admission-control-config-file=${credentials.admissionConfiguration}`,
    '--allow-privileged=true',
  ];
}

/**
 * Not run: cloud controllers, and `nodelifecycle`: the stand-in kubelet sends no heartbeats, so its nodes would be tainted and drained.
 */
const CONTROLLERS = '*,-nodeipam,-route,-service,-nodelifecycle';

/** kube-controller-manager: terminates namespaces, collects garbage, creates pods of workloads. It serves no port. */
export function controllerManagerCommand(program: string, credentials: Credentials, minor: number): CommandLine {
  return [
    program,
    `--kubeconfig=${credentials.kubeconfig}`,
    `--controllers=${CONTROLLERS}`,
    `--service-account-private-key-file=${credentials.serviceAccountKey}`,
    `--root-ca-file=${credentials.certificate}`,
    '--leader-elect=false',
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
    '--secure-port=0',
    ...(minor < 24 ? ['--port=0'] : []),
  ];
}
