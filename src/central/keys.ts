/**
 * Keys and certificates of OVN's databases. There are three authorities, whose keys are not kept. Members accept one another by certificates of the first,
 * which nobody else has. Clients of the Northbound database have certificates of the second, and nodes those of the third alone, which the Northbound
 * database does not trust: so an attacker on one node cannot write the network of all, and nobody but a member takes part in a cluster.
 */
import { CertificateAuthority, type Credential, type Validity } from '../certificates/authority.ts';

/** Ten years: no database is stopped by a forgotten date. */
const LIFETIME_MS = 3_650 * 24 * 3_600_000;
/** Clocks of nodes differ. */
const SKEW_MS = 24 * 3_600_000;

/** Texts in PEM, by their keys in a Secret. */
export type Material = Readonly<Record<string, string>>;

/** What a member has on its disk. */
export interface MemberKeys {
  /** Of a member among members: `cacert`, `cert`, `key`. */
  readonly cluster: Material;
  /** Members of an earlier release took part without these. */
  readonly hadOthers?: true;
  /** Of members for clients of both databases, and of northd. */
  readonly members: Material;
}

export interface OvnKeys extends MemberKeys {
  /** Of the controller; the names that Kube-OVN has: `cacert`, `cert`, `key`. */
  readonly controller: Material;
  /** Of ovn-controller on nodes; the same names. */
  readonly nodes: Material;
}

/** What an earlier release made, with what members need now. @param now milliseconds since 1970 */
export function withClusterKeys(keys: Omit<OvnKeys, 'cluster'> & Partial<OvnKeys>, now: number): OvnKeys {
  return keys.cluster === undefined ? { ...keys, cluster: makeClusterKeys(now), hadOthers: true } : { ...keys, cluster: keys.cluster };
}

function makeClusterKeys(now: number): Material {
  const authority = new CertificateAuthority('kiln-ovn-members', validityFrom(now));
  const { key, certificate } = authority.issue({ name: { commonName: 'ovn-member' }, purpose: 'peer' });
  return { cacert: authority.certificate, cert: certificate, key };
}

function validityFrom(now: number): Validity {
  return { from: now - SKEW_MS, until: now + LIFETIME_MS };
}

/** @param now milliseconds since 1970 */
export function makeKeys(now: number): OvnKeys {
  const validity = validityFrom(now);
  const central = new CertificateAuthority('kiln-ovn-central', validity);
  const southbound = new CertificateAuthority('kiln-ovn-southbound', validity);
  // OVSDB checks the authority of a certificate, and no name.
  const issue = (authority: CertificateAuthority, purpose: 'peer' | 'client', commonName: string): Credential =>
    authority.issue({ name: { commonName }, purpose });
  const member = issue(central, 'peer', 'ovn-central');
  const server = issue(southbound, 'peer', 'ovn-southbound');
  const controller = issue(central, 'client', 'kiln-controller');
  const node = issue(southbound, 'client', 'ovn-controller');
  const both = `${central.certificate}${southbound.certificate}`;
  return {
    cluster: makeClusterKeys(now),
    members: {
      'nb-cacert': central.certificate,
      'nb-cert': member.certificate,
      'nb-key': member.key,
      'sb-cacert': both,
      'sb-cert': server.certificate,
      'sb-key': server.key,
      'northd-cacert': both,
      'northd-cert': member.certificate,
      'northd-key': member.key,
    },
    controller: { cacert: central.certificate, cert: controller.certificate, key: controller.key },
    nodes: { cacert: southbound.certificate, cert: node.certificate, key: node.key },
  };
}
