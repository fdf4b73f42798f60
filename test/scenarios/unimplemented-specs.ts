/** One object of each kind that is not implemented. */
import type { ResourceName } from '../../src/world/resources.ts';

/** For each custom kind that is not implemented: a spec, and an edit of it. */
export const UNIMPLEMENTED_SPECS: Readonly<Partial<Record<ResourceName, readonly [spec: object, edit: object]>>> = {
  networkpolicies: [{ podSelector: {}, policyTypes: ['Ingress'] }, { policyTypes: ['Egress'] }],
  'security-groups': [{ allowSameGroupTraffic: true }, { allowSameGroupTraffic: false }],
  'vpc-nat-gateways': [{ vpc: 'nowhere', subnet: 'nowhere', lanIp: '10.0.0.254' }, { lanIp: '10.0.0.253' }],
  'vpc-egress-gateways': [
    { externalSubnet: 'nowhere', policies: [{ snat: true, ipBlocks: ['10.0.0.0/8'] }] },
    { externalSubnet: 'elsewhere' },
  ],
  'vpc-dnses': [{ vpc: 'nowhere', subnet: 'nowhere' }, { subnet: 'elsewhere' }],
  'switch-lb-rules': [{ vip: '1.1.1.1', namespace: 'default', ports: [{ name: 'dns', port: 53, protocol: 'TCP' }] }, { vip: '1.1.1.2' }],
  'router-lb-rules': [{ vpc: 'nowhere', ovnEip: 'nowhere', namespace: 'default' }, { ovnEip: 'elsewhere' }],
  'iptables-fip-rules': [{ eip: 'nowhere', internalIp: '10.0.0.2' }, { internalIp: '10.0.0.3' }],
  'iptables-snat-rules': [{ eip: 'nowhere', internalCIDR: '10.0.0.0/24' }, { internalCIDR: '10.0.1.0/24' }],
  'iptables-dnat-rules': [
    { eip: 'nowhere', internalIp: '10.0.0.2', internalPort: '80', externalPort: '8080', protocol: 'tcp' },
    { externalPort: '8081' },
  ],
  'bgp-confs': [{ localASN: 65_000, peerASN: 65_001 }, { peerASN: 65_002 }],
  'evpn-confs': [{ vni: 10, routeTargets: ['65000:10'] }, { vni: 11 }],
  dnsnameresolvers: [{ name: 'www.example.com.' }, {}],
  'qos-policies': [{ shared: false, bindingType: 'EIP', bandwidthLimitRules: [{ name: 'one', rateMax: '1' }] }, { shared: true }],
};
