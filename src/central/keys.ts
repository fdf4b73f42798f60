/**
 * Keys and certificates of OVN's databases. There are two authorities, whose keys are not kept: nodes have certificates of the second alone, which
 * the Northbound database does not trust. So an attacker on one node cannot write the network of all.
 */
import { CertificateAuthority, type Credential } from '../certificates/authority.ts';

/** Ten years: no database is stopped by a forgotten date. */
const LIFETIME_MS = 3_650 * 24 * 3_600_000;
/** Clocks of nodes differ. */
const SKEW_MS = 24 * 3_600_000;

/** Texts in PEM, by their keys in a Secret. */
export type Material = Readonly<Record<string, string>>;

export interface OvnKeys {
  /** Of members: for both databases and northd. */
  readonly members: Material;
  /** Of the controller; the names that Kube-OVN has: `cacert`, `cert`, `key`. */
  readonly controller: Material;
  /** Of ovn-controller on nodes; the same names. */
  readonly nodes: Material;
}

/** @param now milliseconds since 1970 */
export function makeKeys(now: number): OvnKeys {
  const validity = { from: now - SKEW_MS, until: now + LIFETIME_MS };
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
