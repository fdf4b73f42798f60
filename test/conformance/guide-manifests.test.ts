/**
 * The examples of Kube-OVN's user guide, applied with kubectl: both API servers accept the same ones, and each rejection has a known
 * reason.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { crdYaml } from '../../src/api/kinds/crds.ts';
import { LabApiServer } from '../../lab/apiserver/server.ts';
import { networkAttachmentCrd } from '../../lab/network-attachment-crd.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { missingClusterPrograms, RealCluster } from '../../lab/real-cluster/real-cluster.ts';
import { Kubectl } from './kubectl.ts';
import { until } from '../../src/testing/until.ts';

const MANIFESTS = fileURLToPath(new URL('../../../shared/reference/manifests', import.meta.url));
const noManifests = existsSync(MANIFESTS) ? false : "the examples of Kube-OVN's user guide are not on this host";
const noCluster = missingClusterPrograms() ?? (findKubernetesProgram('kubectl') === undefined ? 'kubectl was not found' : undefined);

/** Files that no API server with these definitions accepts: the message, and the reason. */
const REFUSED: Readonly<Record<string, { readonly says: RegExp; readonly because: string }>> = {
  'advance__offload-mellanox__3.yaml': {
    says: /metadata\.name: Invalid value: "nginx-underlay-noVF"/,
    because: 'a pod has no capitals in its name',
  },
  'kubevirt__static-ip__1.yaml': { says: /no matches for kind "VirtualMachine"/, because: "KubeVirt's definitions are not there" },
  'kubevirt__vm-clone__1.yaml': { says: /no matches for kind "VirtualMachineClone"/, because: "KubeVirt's definitions are not there" },
  'kubevirt__vm-clone__3.yaml': { says: /no matches for kind "VirtualMachineClone"/, because: "KubeVirt's definitions are not there" },
  'start__non-primary-mode__1.yaml': {
    says: /unknown field "(spec\.)?cidr"/,
    because: 'the field is cidrBlock; without validation it would be dropped in silence',
  },
  'vpc__vpc-internal-lb__1.yaml': {
    says: /spec\.selector/,
    because: 'the selector is a list of `key:value`, and the example has a mapping',
  },
  'vpc__vpc__13.yaml': { says: /spec\.selector/, because: 'the selector is a list of `key:value`, and the example has a mapping' },
};

interface Document {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}

const files = noManifests === false ? readdirSync(MANIFESTS).filter((file) => /\.ya?ml$/.test(file)) : [];

function documents(file: string): Document[] {
  return parseAllDocuments(readFileSync(join(MANIFESTS, file), 'utf8'), { uniqueKeys: false })
    .map((document) => document.toJS() as Document | null)
    .filter((document) => document !== null);
}

/** Namespaces that the examples name and do not create. */
function namespaces(): string[] {
  const all = files.flatMap((file) => documents(file));
  const named = all.flatMap(({ kind, metadata }) => [metadata?.namespace, kind === 'Namespace' ? metadata?.name : undefined]);
  return [...new Set(named)].filter((name) => name !== undefined && !['default', 'kube-system'].includes(name)) as string[];
}

async function outcomes(kubectl: Kubectl, cel: boolean): Promise<Map<string, string>> {
  await kubectl.ok(['apply', '-f', '-'], crdYaml({ cel }));
  await kubectl.ok(['apply', '-f', '-'], JSON.stringify(networkAttachmentCrd));
  await kubectl.established();
  for (const name of namespaces()) await kubectl.ok(['create', 'ns', name]);
  await until('the definitions are described', async () => (await kubectl.run(['explain', 'subnet.spec.cidrBlock'])).code === 0);
  const result = new Map<string, string>();
  for (const file of files) {
    // A dry run on the server stores nothing: the examples share names.
    const { code, stderr } = await kubectl.run(['apply', '--dry-run=server', '-f', join(MANIFESTS, file)]);
    result.set(file, code === 0 ? '' : stderr.trim());
  }
  return result;
}

function check(found: ReadonlyMap<string, string>): void {
  assert.ok(found.size > 60, `${found.size} files`);
  const surprises = [...found].filter(([file, message]) => {
    const refusal = REFUSED[file];
    return refusal === undefined ? message !== '' : !refusal.says.test(message);
  });
  assert.deepEqual(Object.fromEntries(surprises), {});
}

describe("the examples of Kube-OVN's user guide", { skip: noManifests }, () => {
  test(
    'on the lab',
    { skip: findKubernetesProgram('kubectl') === undefined ? 'kubectl was not found' : false, timeout: 2_700_000 },
    async () => {
      const directory = await mkdtemp(join(tmpdir(), 'kiln-guide-'));
      const lab = new LabApiServer({ dataDir: directory });
      await lab.start();
      try {
        check(await outcomes(new Kubectl(join(directory, 'kubeconfig'), join(directory, 'cache')), true));
      } finally {
        await lab.stop();
        await rm(directory, { recursive: true });
      }
    },
  );

  test('on a real API server', { skip: noCluster ?? false, timeout: 2_700_000 }, async () => {
    const real = new RealCluster();
    const cache = await mkdtemp(join(tmpdir(), 'kiln-guide-'));
    await real.start();
    try {
      check(await outcomes(new Kubectl(real.kubeconfig, cache), false));
    } finally {
      await real.stop();
      await rm(cache, { recursive: true });
    }
  });
});
