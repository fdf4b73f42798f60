/** Routers of other programs as external Vpcs. */
import assert from 'node:assert/strict';
import type { Scenario } from './scenario.ts';
import { makeForeignRows, removeForeignRows } from './foreign-rows.ts';

const PROJECT = 'neutron-6c0f1b0e-6a2f-4b7e-9d5b-0d2f8d8f7a11';

export const externalVpcs: readonly Scenario[] = [
  {
    name: 'with --enable-external-vpc each foreign router is a read-only Vpc, comes back when it is deleted, and goes with the router',
    alone: true,
    run: async (cluster) => {
      await makeForeignRows(cluster);
      await cluster.ovn.nbctl(
        ...['lsp-add', PROJECT, 'to-router', '--', 'lsp-set-type', 'to-router', 'router', '--'],
        ...['lsp-set-options', 'to-router', 'router-port=lrp-b3c1'],
      );
      await cluster.converged();
      assert.equal(await cluster.find('vpc', `${PROJECT}-r`), undefined, 'off by default');
      const before = await cluster.foreignRows();
      await cluster.controller.stop();
      const controller = cluster.startController(['--enable-external-vpc=true']);
      const shown = await cluster.eventually('the router is shown', async () => {
        const vpc = await cluster.find('vpc', `${PROJECT}-r`);
        const { standby, subnets } = (vpc?.status ?? {}) as { readonly standby?: boolean; readonly subnets?: readonly string[] };
        return standby === true && subnets?.[0] === PROJECT && vpc;
      });
      assert.equal(shown.metadata.labels?.['ovn.kubernetes.io/vpc_external'], 'true');
      await cluster.eventually('and the unmarked one', () => cluster.find('vpc', 'by-hand-router'));
      await cluster.delete('vpc', 'by-hand-router');
      await cluster.eventually('it is shown again', async () => (await cluster.find('vpc', 'by-hand-router'))?.status !== undefined);
      await cluster.converged();
      await cluster.invariantsHold(before);
      await removeForeignRows(cluster);
      await cluster.eventually('the Vpcs go with their routers', async () => {
        const names = await cluster.names('vpc');
        return !names.includes('by-hand-router') && !names.includes(`${PROJECT}-r`);
      });
      await cluster.converged();
      await controller.stop();
      await cluster.ensureController();
    },
  },
];
