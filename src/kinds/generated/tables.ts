/** Part `table` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { AnyWorld } from '../../engine/any-world.ts';
import type { TableOf } from '../../world/kind-table.ts';
import { openTable } from '../../world/kind-table.ts';
import type { Reactor } from '../../engine/reactor.ts';
import type { Settings } from '../../world/settings.ts';
import { table as vpc } from '../vpc/table.ts';
import { table as subnet } from '../subnet/table.ts';
import { table as ip } from '../ip/table.ts';
import { table as ipPool } from '../ip-pool/table.ts';
import { table as pod } from '../pod/table.ts';
import { table as namespace } from '../namespace/table.ts';
import { table as node } from '../node/table.ts';
import { table as externalGatewayConfig } from '../external-gateway-config/table.ts';
import { table as statefulSet } from '../stateful-set/table.ts';
import { table as networkAttachment } from '../network-attachment/table.ts';
import { table as virtualMachine } from '../virtual-machine/table.ts';
import { table as virtualMachineInstance } from '../virtual-machine-instance/table.ts';
import { table as machineMigration } from '../machine-migration/table.ts';
import { table as service } from '../service/table.ts';
import { table as endpointSlice } from '../endpoint-slice/table.ts';
import { table as vip } from '../vip/table.ts';
import { table as ovnEip } from '../ovn-eip/table.ts';
import { table as ovnFip } from '../ovn-fip/table.ts';
import { table as ovnSnatRule } from '../ovn-snat-rule/table.ts';
import { table as ovnDnatRule } from '../ovn-dnat-rule/table.ts';
import { table as vlan } from '../vlan/table.ts';
import { table as providerNetwork } from '../provider-network/table.ts';
import { table as iptablesEip } from '../iptables-eip/table.ts';
import { table as iptablesFipRule } from '../iptables-fip-rule/table.ts';
import { table as iptablesSnatRule } from '../iptables-snat-rule/table.ts';
import { table as iptablesDnatRule } from '../iptables-dnat-rule/table.ts';

export const TABLES = {
  vpcs: vpc,
  subnets: subnet,
  ips: ip,
  ippools: ipPool,
  pods: pod,
  namespaces: namespace,
  nodes: node,
  configmaps: externalGatewayConfig,
  statefulsets: statefulSet,
  'network-attachment-definitions': networkAttachment,
  virtualmachines: virtualMachine,
  virtualmachineinstances: virtualMachineInstance,
  virtualmachineinstancemigrations: machineMigration,
  services: service,
  endpointslices: endpointSlice,
  vips: vip,
  'ovn-eips': ovnEip,
  'ovn-fips': ovnFip,
  'ovn-snat-rules': ovnSnatRule,
  'ovn-dnat-rules': ovnDnatRule,
  vlans: vlan,
  'provider-networks': providerNetwork,
  'iptables-eips': iptablesEip,
  'iptables-fip-rules': iptablesFipRule,
  'iptables-snat-rules': iptablesSnatRule,
  'iptables-dnat-rules': iptablesDnatRule,
} as const;

/** The tables of a World, by the name of the kind in code. */
export class KindTables extends AnyWorld {
  readonly settings: Settings;
  readonly vpcs: TableOf<typeof vpc>;
  readonly subnets: TableOf<typeof subnet>;
  readonly ips: TableOf<typeof ip>;
  readonly ipPools: TableOf<typeof ipPool>;
  readonly pods: TableOf<typeof pod>;
  readonly namespaces: TableOf<typeof namespace>;
  readonly nodes: TableOf<typeof node>;
  readonly externalGatewayConfigs: TableOf<typeof externalGatewayConfig>;
  readonly statefulSets: TableOf<typeof statefulSet>;
  readonly networkAttachments: TableOf<typeof networkAttachment>;
  readonly virtualMachines: TableOf<typeof virtualMachine>;
  readonly virtualMachineInstances: TableOf<typeof virtualMachineInstance>;
  readonly machineMigrations: TableOf<typeof machineMigration>;
  readonly services: TableOf<typeof service>;
  readonly endpointSlices: TableOf<typeof endpointSlice>;
  readonly vips: TableOf<typeof vip>;
  readonly ovnEips: TableOf<typeof ovnEip>;
  readonly ovnFips: TableOf<typeof ovnFip>;
  readonly ovnSnatRules: TableOf<typeof ovnSnatRule>;
  readonly ovnDnatRules: TableOf<typeof ovnDnatRule>;
  readonly vlans: TableOf<typeof vlan>;
  readonly providerNetworks: TableOf<typeof providerNetwork>;
  readonly iptablesEips: TableOf<typeof iptablesEip>;
  readonly iptablesFipRules: TableOf<typeof iptablesFipRule>;
  readonly iptablesSnatRules: TableOf<typeof iptablesSnatRule>;
  readonly iptablesDnatRules: TableOf<typeof iptablesDnatRule>;

  constructor(reactor: Reactor, settings: Settings) {
    super(reactor);
    this.settings = settings;
    this.vpcs = openTable(reactor, 'vpcs', vpc, settings);
    this.subnets = openTable(reactor, 'subnets', subnet, settings);
    this.ips = openTable(reactor, 'ips', ip, settings);
    this.ipPools = openTable(reactor, 'ippools', ipPool, settings);
    this.pods = openTable(reactor, 'pods', pod, settings);
    this.namespaces = openTable(reactor, 'namespaces', namespace, settings);
    this.nodes = openTable(reactor, 'nodes', node, settings);
    this.externalGatewayConfigs = openTable(reactor, 'configmaps', externalGatewayConfig, settings);
    this.statefulSets = openTable(reactor, 'statefulsets', statefulSet, settings);
    this.networkAttachments = openTable(reactor, 'network-attachment-definitions', networkAttachment, settings);
    this.virtualMachines = openTable(reactor, 'virtualmachines', virtualMachine, settings);
    this.virtualMachineInstances = openTable(reactor, 'virtualmachineinstances', virtualMachineInstance, settings);
    this.machineMigrations = openTable(reactor, 'virtualmachineinstancemigrations', machineMigration, settings);
    this.services = openTable(reactor, 'services', service, settings);
    this.endpointSlices = openTable(reactor, 'endpointslices', endpointSlice, settings);
    this.vips = openTable(reactor, 'vips', vip, settings);
    this.ovnEips = openTable(reactor, 'ovn-eips', ovnEip, settings);
    this.ovnFips = openTable(reactor, 'ovn-fips', ovnFip, settings);
    this.ovnSnatRules = openTable(reactor, 'ovn-snat-rules', ovnSnatRule, settings);
    this.ovnDnatRules = openTable(reactor, 'ovn-dnat-rules', ovnDnatRule, settings);
    this.vlans = openTable(reactor, 'vlans', vlan, settings);
    this.providerNetworks = openTable(reactor, 'provider-networks', providerNetwork, settings);
    this.iptablesEips = openTable(reactor, 'iptables-eips', iptablesEip, settings);
    this.iptablesFipRules = openTable(reactor, 'iptables-fip-rules', iptablesFipRule, settings);
    this.iptablesSnatRules = openTable(reactor, 'iptables-snat-rules', iptablesSnatRule, settings);
    this.iptablesDnatRules = openTable(reactor, 'iptables-dnat-rules', iptablesDnatRule, settings);
  }

  /** By resource. */
  protected byResource() {
    return {
      vpcs: this.vpcs,
      subnets: this.subnets,
      ips: this.ips,
      ippools: this.ipPools,
      pods: this.pods,
      namespaces: this.namespaces,
      nodes: this.nodes,
      configmaps: this.externalGatewayConfigs,
      statefulsets: this.statefulSets,
      'network-attachment-definitions': this.networkAttachments,
      virtualmachines: this.virtualMachines,
      virtualmachineinstances: this.virtualMachineInstances,
      virtualmachineinstancemigrations: this.machineMigrations,
      services: this.services,
      endpointslices: this.endpointSlices,
      vips: this.vips,
      'ovn-eips': this.ovnEips,
      'ovn-fips': this.ovnFips,
      'ovn-snat-rules': this.ovnSnatRules,
      'ovn-dnat-rules': this.ovnDnatRules,
      vlans: this.vlans,
      'provider-networks': this.providerNetworks,
      'iptables-eips': this.iptablesEips,
      'iptables-fip-rules': this.iptablesFipRules,
      'iptables-snat-rules': this.iptablesSnatRules,
      'iptables-dnat-rules': this.iptablesDnatRules,
    };
  }
}
