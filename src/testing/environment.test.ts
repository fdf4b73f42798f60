/** What a developer exported in the terminal does not reach the programs that tests start. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { runHere } from '../cli/testing/command-here.ts';
import { runKiln } from '../cli/testing/kiln-process.ts';
import { testEnvironment } from './environment.ts';

const EXPORTED = { KILN_OVN_NB: 'ssl:192.0.2.1:6641', OVN_NB_DB: 'tcp:192.0.2.1:6641', KUBECONFIG: '/nowhere', NO_COLOR: '1' };
const inherited = { ...process.env };
afterEach(() => {
  process.env = { ...inherited };
});

test('the settings of the terminal go, the rest stays', () => {
  Object.assign(process.env, EXPORTED);
  const environment = testEnvironment();
  for (const name of Object.keys(EXPORTED)) assert.ok(!(name in environment), name);
  assert.equal(environment['PATH'], process.env['PATH']);
});

for (const [where, run] of [
  ["the test's process", runHere],
  ['a process', (args: readonly string[]) => runKiln(args)],
] as const)
  test(`a command in ${where} has none of them`, async () => {
    Object.assign(process.env, EXPORTED);
    const { out } = await run(['config', '-o', 'json']);
    assert.doesNotMatch(out, /192\.0\.2\.1|\/nowhere/);
  });
