/** How a controller ends after a signal. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const MAIN = join(import.meta.dirname, '../main.ts');
/** A cluster that does not exist: the controller waits for it. */
const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: nowhere
contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody}}]
clusters: [{name: nowhere, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: nobody, user: {}}]
`;

for (const [signal, expected] of [
  ['SIGTERM', 0],
  ['SIGHUP', 0],
  ['SIGINT', 130],
] as const)
  test(`a controller that gets ${signal} stops in order and exits with ${expected}`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'kiln-start-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const kubeconfig = join(directory, 'kubeconfig');
    writeFileSync(kubeconfig, KUBECONFIG);
    const args = ['start', `--kubeconfig=${kubeconfig}`, '--ovn-nb=unix:/nowhere/at/all', '--metrics-bind-address=off', '--journal=off'];
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (!output.includes('cannot be read') && (output + text).includes('cannot be read')) child.kill(signal);
      output += text;
    });
    const [code, killedBy] = (await once(child, 'exit')) as [number | null, string | null];
    assert.deepEqual([code, killedBy], [expected, null], output);
    assert.match(output, new RegExp(`"signal":"${signal}","msg":"stopping"`));
  });
