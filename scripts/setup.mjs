#!/usr/bin/env node
/**
 * Brings a machine to where `npm start` or `npm test` can run: Node packages, a Node that runs TypeScript, then (in
 * `setup/machine.ts`) Debian packages and binaries. Plain JavaScript without dependencies, because it runs before there
 * are any, on Node 20 or newer; when all is there it only looks, and is done in a fraction of a second.
 *
 *   node scripts/setup.mjs build|start|cluster|test|test:long
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 24;
const script = fileURLToPath(import.meta.url);
const root = dirname(dirname(script));
const packages = join(root, 'node_modules');
const binaries = join(packages, '.bin');

installPackages();
if (major(process.version) >= NEEDED_MAJOR) {
  const { setUp } = await import('./setup/machine.ts');
  process.exitCode = await setUp(process.argv[2]);
} else {
  const again = spawnSync(findNode(), [script, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exitCode = again.status ?? 1;
}

function installPackages() {
  const lock = join(root, 'package-lock.json');
  const installed = join(packages, '.package-lock.json');
  // A link leads to the packages of another clone, which npm ci would empty under it: they are that clone's to renew.
  if (lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink()) {
    if (existsSync(installed)) return;
    fail('node_modules is a link, and there are no packages where it leads: remove the link, or run npm ci there');
  }
  if (existsSync(installed) && statSync(lock).mtimeMs <= statSync(installed).mtimeMs) return;
  say('installing Node packages (npm ci)');
  if (runNpm(['ci', '--loglevel=error']) !== 0) fail('npm ci failed; its own message is above');
}

/** npm is kept off the Node that lies in the very folder it is about to replace. */
function runNpm(args) {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== binaries);
  const env = { ...process.env, PATH: path.join(delimiter) };
  const { npm_node_execpath: npmNode, npm_execpath: npmScript } = process.env;
  const known = npmNode !== undefined && npmScript !== undefined && !npmNode.startsWith(root);
  const [program, leading] = known ? [npmNode, [npmScript]] : ['npm', []];
  return spawnSync(program, [...leading, ...args], { cwd: root, env, stdio: ['ignore', 2, 2] }).status;
}

function findNode() {
  const own = join(binaries, 'node');
  if (!works(own)) fail(`the package of Node did not install here: install Node ${NEEDED_MAJOR} or newer, and run this again`);
  return own;
}

function works(node) {
  const result = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return result.status === 0 && major(result.stdout) >= NEEDED_MAJOR;
}

function major(version) {
  return Number(version.replace(/^v/, '').split('.')[0]);
}

function say(text) {
  process.stderr.write(`[setup] ${text}\n`);
}

function fail(sentence) {
  say(sentence);
  process.exit(1);
}
