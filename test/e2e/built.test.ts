/** The built program, as the image runs it, controls the cluster of a laboratory. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Laboratory } from '../../lab/laboratory.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import { buildPrograms } from '../../scripts/build/programs.ts';
import type { KubeObject } from '../../src/kube/resource.ts';
import { PODS } from '../../src/kube/resource.ts';
import { ControllerProcess } from '../../src/testing/controller-process.ts';
import { until } from '../../src/testing/until.ts';

type Annotated = KubeObject & { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } };

if (findOvn('system') !== undefined)
  test('the built controller gets ready, binds a pod and ends in order', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-built-'));
    t.after(() => rmSync(folder, { recursive: true }));
    await buildPrograms({ programs: { kiln: 'src/cli/built.ts' }, directory: join(folder, 'dist') });
    const lab = new Laboratory({ directory: folder, nodes: 1, step: (_what, done) => done.then(() => undefined) });
    t.after(() => lab.stop());
    await lab.start();
    const controller = new ControllerProcess({
      kubeconfig: lab.kubeconfig,
      ovnNb: lab.ovn.nbEndpoint,
      log: join(folder, 'log'),
      program: join(folder, 'dist/kiln.mjs'),
    });
    t.after(() => controller.stop());
    controller.start();
    const { url } = await controller.untilLogged('serving metrics and probes');
    await until('/readyz answers 200', async () => (await fetch(`${String(url)}/readyz`)).ok);
    await lab.client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'one', namespace: 'default' },
      spec: { containers: [{ name: 'main', image: 'busybox' }] },
    } as KubeObject);
    const bound = async (): Promise<string | undefined> => {
      const { metadata } = await lab.client.get<Annotated>(PODS, { namespace: 'default', name: 'one' });
      return metadata.annotations?.['ovn.kubernetes.io/ip_address'];
    };
    assert.match(await until('the pod has an address', bound), /^10\.16\.\d+\.\d+$/);
    assert.match(await controller.metrics(), /^kiln_leader 1$/m);
    await controller.stop();
    await controller.untilLogged('stopping');
    assert.deepEqual(
      (await controller.log()).filter(({ level }) => level === 'error'),
      [],
    );
  });
