/** `kiln audit` of clusters that Kube-OVN filled: it reads their layout, writes nothing, and says what it does not judge. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runHere } from '../../src/cli/testing/command-here.ts';
import { traitsOf } from '../../src/world/resources.ts';
import { clusterAsLeft, noOlderReleases, OLDER_RELEASES } from './left-cluster.ts';

interface Audit {
  readonly groups: readonly {
    readonly invariant: string;
    readonly cause: string;
    readonly findings: readonly { readonly id: string; readonly subject: string }[];
  }[];
  readonly notJudged: readonly string[];
}

if (noOlderReleases !== undefined) test('audits of older releases', { skip: noOlderReleases }, () => {});

for (const release of OLDER_RELEASES) {
  test(`Kube-OVN ${release}: bookkeeping is no finding, a port that is taken out is one`, async () => {
    await using cluster = await clusterAsLeft(release);
    const { client, kubeconfig, ovn } = cluster;
    const audit = async (): Promise<Audit> => {
      const { exit, out, err } = await runHere(['audit', '-o', 'json', `--kubeconfig=${kubeconfig}`], { KILN_OVN_NB: ovn.unix });
      assert.equal(exit, 1, err);
      return JSON.parse(out) as Audit;
    };
    const objects = async (): Promise<readonly (string | undefined)[]> =>
      (await client.listAll(traitsOf('subnets'))).map(({ metadata }) => metadata.resourceVersion);
    const [rows, versions] = [await ovn.nbctl('show'), await objects()];
    const { groups, notJudged } = await audit();
    assert.ok(notJudged.some((one) => one.includes('NetworkPolicy')));
    assert.ok(notJudged.some((one) => one.startsWith('Kiln does not run this cluster')));
    const absent = groups
      .filter(({ cause }) => ['a row is missing', 'a row has no object'].includes(cause))
      .flatMap(({ findings }) => findings);
    assert.deepEqual(
      absent.filter(({ subject }) => subject.startsWith('Logical_Switch_Port ')),
      [],
      'all ports are there',
    );
    assert.deepEqual([await ovn.nbctl('show'), await objects()], [rows, versions], 'nothing was written');
    const [pod] = /\bport (\S+\.default)\n/.exec(rows)?.slice(1) ?? [];
    assert.ok(pod !== undefined);
    await ovn.nbctl('lsp-del', pod);
    const missing = (await audit()).groups.find(({ cause }) => cause === 'a row is missing')?.findings ?? [];
    const finding = missing.find(({ subject }) => subject === `Logical_Switch_Port ${pod}`);
    assert.ok(finding !== undefined);
    if (release !== OLDER_RELEASES[0]) return;
    const repaired = await runHere(['repair', finding.id, '--yes', `--kubeconfig=${kubeconfig}`], { KILN_OVN_NB: ovn.unix });
    assert.equal(repaired.exit, 0, repaired.out + repaired.err);
    const withoutOptions = (text: string): string => text.replaceAll(/switch [0-9a-f-]+|router [0-9a-f-]+/g, '');
    assert.deepEqual(
      withoutOptions(await ovn.nbctl('show'))
        .split('\n')
        .toSorted(),
      withoutOptions(rows).split('\n').toSorted(),
    );
    assert.deepEqual(await objects(), versions, 'no object was written');
  });
}
