/** Every scenario. Those that end processes come last. */
import { addresses } from './addresses.ts';
import { anyOrder } from './any-order.ts';
import { attachments } from './attachments.ts';
import { backups } from './backups.ts';
import { badInput } from './bad-input.ts';
import { bindings } from './bindings.ts';
import { builtIns } from './built-ins.ts';
import { crashes } from './crashes.ts';
import { defaultNetwork } from './default-network.ts';
import { deletionOrder } from './deletion-order.ts';
import { drift } from './drift.ts';
import { externalVpcs } from './external-vpcs.ts';
import { families } from './families.ts';
import { fieldNodes } from './field-nodes.ts';
import { fieldPods } from './field-pods.ts';
import { fieldPools } from './field-pools.ts';
import { fieldRows } from './field-rows.ts';
import { fieldSubnets } from './field-subnets.ts';
import { foreignRows } from './foreign-rows.ts';
import { gateways } from './gateways.ts';
import { leaders } from './leaders.ts';
import { leftovers } from './leftovers.ts';
import { liveMigration } from './live-migration.ts';
import { forgedAnnotations } from './forged-annotations.ts';
import { misbound } from './misbound.ts';
import { namespaces } from './namespaces.ts';
import { unimplemented } from './unimplemented.ts';
import { neighbours } from './neighbours.ts';
import { nat } from './nat.ts';
import { natTraces } from './nat-traces.ts';
import { operatorCommands } from './operator-commands.ts';
import { races } from './races.ts';
import { rejectedIpObjects } from './rejected-ip-objects.ts';
import { restarts } from './restarts.ts';
import { sameNames } from './same-names.ts';
import { tenancy } from './tenancy.ts';
import type { Scenario } from './scenario.ts';
import { serverSideApplies } from './server-side-apply.ts';
import { serviceAccount } from './service-account.ts';
import { services } from './services.ts';
import { subnetChanges } from './subnet-changes.ts';
import { subnets } from './subnets.ts';
import { underlay } from './underlay.ts';
import { undoing } from './undo.ts';
import { uninstallation } from './uninstallation.ts';
import { userGuide } from './user-guide.ts';
import { vipsAndEips } from './vips-and-eips.ts';
import { virtualMachines } from './virtual-machines.ts';
import { vpcRoutes } from './vpc-routes.ts';
import { webhook } from './webhook.ts';
import { webhookService } from './webhook-service.ts';
import { ineffective } from './ineffective.ts';
import { workloads } from './workloads.ts';

const THEMES: readonly (readonly Scenario[])[] = [
  defaultNetwork,
  userGuide,
  vpcRoutes,
  subnets,
  subnetChanges,
  gateways,
  underlay,
  families,
  bindings,
  namespaces,
  addresses,
  vipsAndEips,
  nat,
  natTraces,
  misbound,
  ineffective,
  attachments,
  virtualMachines,
  liveMigration,
  badInput,
  unimplemented,
  deletionOrder,
  builtIns,
  anyOrder,
  leftovers,
  foreignRows,
  externalVpcs,
  neighbours,
  drift,
  fieldPods,
  fieldPools,
  fieldSubnets,
  fieldNodes,
  fieldRows,
  workloads,
  serverSideApplies,
  serviceAccount,
  services,
  webhook,
  webhookService,
  operatorCommands,
  undoing,
  backups,
  rejectedIpObjects,
  forgedAnnotations,
  restarts,
  races,
  sameNames,
  tenancy,
  leaders,
  crashes,
  uninstallation,
];

export const SCENARIOS: readonly Scenario[] = THEMES.flat();
