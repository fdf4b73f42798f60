/**
 * The way from the underlay's own namespace to pods and Services, through a node. The control plane of a cluster runs there: in a user's cluster it is on
 * a node, or has such a way, since `kubectl proxy`, webhooks and aggregated APIs in pods need it.
 */
import type { PacketNode } from './packet-node.ts';
import type { Underlay } from './underlay.ts';

const TABLE = '100';
/** After the rule of the main table: what has a route there keeps it. */
const PRIORITY = '33000';
const FAMILIES = ['-4', '-6'] as const;

/** Leads what starts in the underlay's namespace, and has no route there, through a node: that knows the Subnets of the default Vpc and the Services. */
export async function reachPods({ namespace }: Underlay, { address, address6 }: PacketNode): Promise<void> {
  const nodes = [address, ...(address6 === undefined ? [] : [address6])];
  for (const family of FAMILIES) {
    const node = nodes.find((one) => one.includes(':') === (family === '-6'));
    if (node === undefined) continue;
    const rules = await namespace.run('ip', family, 'rule', 'show', 'priority', PRIORITY);
    // Only for what starts here: what the nodes send to nowhere is refused, not sent back.
    if (rules.trim() === '') await namespace.run('ip', family, 'rule', 'add', 'iif', 'lo', 'priority', PRIORITY, 'lookup', TABLE);
    await namespace.run('ip', family, 'route', 'replace', 'default', 'via', node, 'table', TABLE);
  }
}

/** On each node: it translates what it forwards for the underlay's namespace, since replies of pods would leave by other nodes. */
export async function translateUnderlay({ router, router6 }: Underlay, { namespace }: PacketNode): Promise<void> {
  const rules = `ip saddr ${router} masquerade; ip6 saddr ${router6} masquerade;`;
  const chain = `chain postrouting { type nat hook postrouting priority 90; policy accept; ${rules} }`;
  await namespace.run('nft', `table inet laboratory { ${chain}; }`);
}
