/** The examples in Kube-OVN's user guide break none of our rules. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { Finding } from './finding.ts';
import { ipPoolFindings } from './ip-pool-validation.ts';
import type { IPPoolSpec } from '../kinds/ip-pool.ts';
import type { Labels } from '../kubernetes/meta.ts';
import { podNetworkFindings } from '../pod/pod-network-validation.ts';
import { defaultSubnetSettings, withSubnetDefaults } from '../defaults/subnet-defaults.ts';
import { subnetFindings } from './subnet-validation.ts';
import type { SubnetSpec } from '../kinds/subnet.ts';
import { vpcFindings } from './vpc-validation.ts';
import type { VpcSpec } from '../kinds/vpc.ts';

const manifests = fileURLToPath(new URL('../../../../shared/reference/manifests', import.meta.url));

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Labels };
  readonly spec?: { readonly template?: { readonly metadata?: { readonly annotations?: Labels } } };
}

/** A Subnet with every address: the Subnets of the guide's addresses are on different pages. */
const anywhere = { name: '', spec: { cidrBlock: '0.0.0.0/0,::/0' } };

const findingsOf = ({ kind, metadata: { name, annotations }, spec = {} }: Manifest): readonly Finding[] | undefined => {
  if (kind === 'Subnet') {
    const given = spec as SubnetSpec;
    return [
      ...subnetFindings({ name, spec: given }),
      ...subnetFindings({ name, spec: withSubnetDefaults({ name, spec: given }, defaultSubnetSettings) }),
    ];
  }
  if (kind === 'Vpc') return vpcFindings({ name, spec: spec as VpcSpec });
  if (kind === 'IPPool') return ipPoolFindings({ name, spec: spec as IPPoolSpec }, anywhere);
  const asked = kind === 'Pod' ? annotations : spec.template?.metadata?.annotations;
  return asked && podNetworkFindings({ kind, name }, asked);
};

/** Pages that show only a part of a Subnet, without its network. */
const fragments = ['advance__with-submariner__1.yaml', 'guide__subnet__9.yaml', 'start__non-primary-mode__1.yaml'];

test("examples of Kube-OVN's user guide", { skip: existsSync(manifests) ? false : `${manifests} is not there` }, () => {
  const findings: string[] = [];
  let checked = 0;
  for (const file of readdirSync(manifests).filter((name) => !fragments.includes(name)))
    for (const document of parseAllDocuments(readFileSync(`${manifests}/${file}`, 'utf8'))) {
      const manifest = document.toJS() as Manifest | null;
      const found = typeof manifest?.kind === 'string' ? findingsOf(manifest) : undefined;
      if (found === undefined) continue;
      checked += 1;
      findings.push(...found.map(({ message }) => `${file}: ${message}`));
    }
  assert.ok(checked >= 40, `${checked} objects checked`);
  assert.deepEqual(findings, []);
});
