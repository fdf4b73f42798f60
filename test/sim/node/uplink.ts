/** The second interface of a simulated node, which a ProviderNetwork may take: its name, its addresses and a route by it. */

export const UPLINK = 'eth1';
/** The second one is of the network of the first: it is not the primary one, though the first one by its text. */
export const ADDRESSES = ['172.30.0.9/24', '172.30.0.2/24', 'fd30::2/64'] as const;
export const ROUTE = { family: 4, dst: '203.0.113.0/24', via: '172.30.0.1', table: '254', proto: 'static' } as const;
