/** Part `agent-table` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import type { AgentTableOf } from '../../agent/world/agent-table.ts';
import { openAgentTable } from '../../agent/world/agent-table.ts';
import { AnyWorld } from '../../engine/any-world.ts';
import { agentTable as subnet } from '../subnet/agent-table.ts';
import { agentTable as pod } from '../pod/agent-table.ts';
import { agentTable as node } from '../node/agent-table.ts';
import { agentTable as externalGatewayConfig } from '../external-gateway-config/agent-table.ts';
import { agentTable as ovnEip } from '../ovn-eip/agent-table.ts';
import { agentTable as vlan } from '../vlan/agent-table.ts';
import { agentTable as providerNetwork } from '../provider-network/agent-table.ts';

export const AGENT_TABLES = {
  subnets: subnet,
  pods: pod,
  nodes: node,
  configmaps: externalGatewayConfig,
  'ovn-eips': ovnEip,
  vlans: vlan,
  'provider-networks': providerNetwork,
} as const;

/** The tables of the World of a node, by the name of the kind in code. */
export class AgentTables extends AnyWorld {
  readonly subnets: AgentTableOf<typeof subnet>;
  readonly pods: AgentTableOf<typeof pod>;
  readonly nodes: AgentTableOf<typeof node>;
  readonly externalGatewayConfigs: AgentTableOf<typeof externalGatewayConfig>;
  readonly ovnEips: AgentTableOf<typeof ovnEip>;
  readonly vlans: AgentTableOf<typeof vlan>;
  readonly providerNetworks: AgentTableOf<typeof providerNetwork>;

  constructor() {
    super();
    this.subnets = openAgentTable(this.reactor, 'subnets', subnet);
    this.pods = openAgentTable(this.reactor, 'pods', pod);
    this.nodes = openAgentTable(this.reactor, 'nodes', node);
    this.externalGatewayConfigs = openAgentTable(this.reactor, 'configmaps', externalGatewayConfig);
    this.ovnEips = openAgentTable(this.reactor, 'ovn-eips', ovnEip);
    this.vlans = openAgentTable(this.reactor, 'vlans', vlan);
    this.providerNetworks = openAgentTable(this.reactor, 'provider-networks', providerNetwork);
  }

  /** By resource. */
  tablesOfKinds() {
    return {
      subnets: this.subnets,
      pods: this.pods,
      nodes: this.nodes,
      configmaps: this.externalGatewayConfigs,
      'ovn-eips': this.ovnEips,
      vlans: this.vlans,
      'provider-networks': this.providerNetworks,
    };
  }
}
