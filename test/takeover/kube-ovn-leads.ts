/** Kube-OVN's controller as Kiln sees it, where it does not run: its Deployment, its Lease, and the rows that it would have to leave alone. */
import type { OvnLab } from '../../lab/ovn/ovn-lab.ts';
import { DEPLOYMENTS } from '../../src/cli/migration/kube-ovn-controller.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/resource.ts';
import { LEASES } from '../../src/kube/resource.ts';

const LEASE = { name: 'kube-ovn-controller', namespace: 'kube-system' };
export const HOLDER = 'kube-ovn-controller-0';

/** The Deployment of a release, such as `1.14.41`. */
export async function putKubeOvn(client: KubeClient, version: string, args: readonly string[]): Promise<void> {
  const containers = [{ name: 'kube-ovn-controller', image: `docker.io/kubeovn/kube-ovn:v${version}`, args }];
  const labels = { app: 'kube-ovn-controller' };
  await client.create<KubeObject>(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: LEASE,
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  } as never);
}

/** As a controller that runs: renewed for long enough. */
export async function holdLease(client: KubeClient): Promise<void> {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  await putLease(client, { holderIdentity: HOLDER, leaseDurationSeconds: 3_600, acquireTime: renewTime, renewTime, leaseTransitions: 1 });
}

/** As a controller that was scaled to none. */
export async function freeLease(client: KubeClient): Promise<void> {
  await putLease(client, { holderIdentity: '', leaseDurationSeconds: 1 });
}

async function putLease(client: KubeClient, spec: object): Promise<void> {
  if ((await client.find(LEASES, LEASE)) === undefined)
    await client.create<KubeObject>(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: LEASE, spec } as never);
  else await client.mergePatch(LEASES, LEASE, { spec });
}

const TABLES = [
  ...['Logical_Switch', 'Logical_Switch_Port', 'Logical_Router', 'Logical_Router_Port', 'Logical_Router_Policy'],
  ...['Logical_Router_Static_Route', 'Load_Balancer', 'Load_Balancer_Health_Check', 'NAT', 'ACL', 'Port_Group', 'Address_Set'],
  ...['DHCP_Options', 'Gateway_Chassis', 'HA_Chassis_Group', 'HA_Chassis', 'BFD', 'QoS', 'Meter', 'Meter_Band', 'Static_MAC_Binding'],
  'NB_Global',
];
/** Columns that OVN's programs write. */
const OF_OVN = /^(_uuid|(nb|sb|hv)_cfg(_timestamp)?|up|status)$/;

/** Every row of the database by UUID, as text: its table and what controllers write of it. */
export async function allRows(ovn: Pick<OvnLab, 'nbctl'>): Promise<ReadonlyMap<string, string>> {
  const rows = new Map<string, string>();
  for (const table of TABLES) {
    const { headings, data } = JSON.parse(await ovn.nbctl('--format=json', '--data=json', 'list', table)) as {
      readonly headings: readonly string[];
      readonly data: readonly (readonly unknown[])[];
    };
    for (const cells of data) {
      const [, uuid] = cells[headings.indexOf('_uuid')] as readonly [string, string];
      const columns = headings.flatMap((name, at) => (OF_OVN.test(name) ? [] : [`${name}=${JSON.stringify(cells[at])}`]));
      rows.set(uuid, `${table} ${columns.toSorted().join(' ')}`);
    }
  }
  return rows;
}
