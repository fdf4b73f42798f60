import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerDeployment } from './kube-ovn-controller.ts';
import { kubeOvnControllerOf } from './kube-ovn-controller.ts';
import { kubeOvnFlags } from './kube-ovn-flags.ts';

function deployment(image: string, args: readonly string[] = [], labels: Readonly<Record<string, string>> = {}): ControllerDeployment {
  const sidecar = { name: 'proxy', image: 'proxy:9.9.9' };
  const containers = [sidecar, { name: 'kube-ovn-controller', image, command: ['/kube-ovn/start-controller.sh'], args }];
  return { metadata: { name: 'kube-ovn-controller', labels }, spec: { replicas: 3, template: { spec: { containers } } } };
}

for (const [image, labels, version] of [
  ['docker.io/kubeovn/kube-ovn:v1.12.35', {}, '1.12.35'],
  ['registry.local:5000/kubeovn/kube-ovn:v1.13.13-x86', {}, '1.13.13'],
  ['registry.local:5000/kubeovn/kube-ovn', {}, null],
  ['kubeovn/kube-ovn@sha256:1122334455', { 'app.kubernetes.io/version': 'v1.14.41' }, '1.14.41'],
  ['kubeovn/kube-ovn:v1.15.0@sha256:12', { version: '1.0.0' }, '1.15.0'],
  ['kubeovn/kube-ovn:latest', { version: 'v1.17.0' }, '1.17.0'],
  ['kubeovn/kube-ovn:10.0.0.1', {}, null],
] as const)
  test(`release of image ${image} ${JSON.stringify(labels)}: ${version}`, () => {
    const found = kubeOvnControllerOf(deployment(image, [], labels));
    assert.deepEqual([found.version, found.replicas], [version, 3]);
  });

test('flags with one dash or two, with the value behind = or a space, and without one', () => {
  const args = ['--default-cidr=10.20.0.0/16', '-node-switch-cidr', '100.65.0.0/16', '--enable-anp', '--v=3'];
  assert.deepEqual(kubeOvnControllerOf(deployment('x', args)).args, [
    '--default-cidr=10.20.0.0/16',
    '--node-switch-cidr=100.65.0.0/16',
    '--enable-anp',
    '--v=3',
  ]);
});

test("settings of Kiln are taken; those with Kiln's default are not repeated; empty ones are Kube-OVN's default", () => {
  const { settings, asFlags, asVariables, without } = kubeOvnFlags([
    ...['--default-cidr=10.20.0.0/16,fd00:20::/112', '--enable-lb=true', '--detect-mult=5', '--default-gateway=', '--worker-num=8'],
    ...['--enable-external-vpc', '--enable-lb-svc=false'],
  ]);
  assert.deepEqual(settings, { defaultCidr: '10.20.0.0/16,fd00:20::/112', enableLb: true, bfdDetectMult: 5, enableExternalVpc: true });
  assert.deepEqual(asFlags, ['--default-cidr=10.20.0.0/16,fd00:20::/112', '--bfd-detect-mult=5', '--enable-external-vpc=true']);
  assert.deepEqual(asVariables, [
    'KILN_DEFAULT_CIDR=10.20.0.0/16,fd00:20::/112',
    'KILN_BFD_DETECT_MULT=5',
    'KILN_ENABLE_EXTERNAL_VPC=true',
  ]);
  assert.deepEqual(without, []);
});

test('a flag that Kiln has not, and a value that it does not know, are told; only what would stop is a stop', () => {
  const { settings, without } = kubeOvnFlags([
    ...['--enable-anp=true', '--node-local-dns-ip=169.254.20.10', '--enable-ecmp=true', '--network-type=vlan', '--default-cidr=$(CIDR)'],
  ]);
  assert.deepEqual(settings, {});
  assert.deepEqual(
    without.map(({ flag, stops }) => [flag, stops]),
    [
      ['--enable-anp=true', true],
      ['--node-local-dns-ip=169.254.20.10', true],
      ['--enable-ecmp=true', false],
      ['--network-type=vlan', false],
      ['--default-cidr=$(CIDR)', false],
    ],
  );
});
