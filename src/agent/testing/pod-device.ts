/** The device of a pod as tests of the kernel's part want it; each test says what differs. */
import { attachmentKey, type DeviceName } from '../world/attachment.ts';
import type { DeviceOutput } from '../world/outputs.ts';

export const POD_DEVICE: DeviceOutput = {
  kind: 'device',
  name: 'c0ffee_h' as DeviceName,
  attachment: attachmentKey('c0ffee', 'eth0'),
  alias: 'kiln:c0ffee/eth0',
  namespacePath: '/run/netns/a',
  innerName: 'eth0',
  mac: '00:00:00:aa:bb:01',
  mtu: 1_400,
  addresses: ['10.16.0.5/16'],
  routes: [{ destination: '0.0.0.0/0', gateway: '10.16.0.1' }],
  checksumOffload: true,
  connected: true,
  detectsDuplicates: true,
  probeMs: 40,
  gateways: [],
  needsGateways: false,
};
