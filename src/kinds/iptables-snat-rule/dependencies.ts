import { natRuleDependencies } from '../subnet/dependencies/address-dependencies.ts';

export const dependencies = natRuleDependencies('iptables-snat-rules');
