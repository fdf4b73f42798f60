/** One worker of `lives.ts`: draws each life that it is sent. */
import { parentPort } from 'node:worker_threads';
import { KNOWN_FAULTS } from './known-faults.ts';
import type { LifeOptions } from './life.ts';
import { draw } from './life.ts';
import type { LifeOrder, LifeReport } from './lives.ts';
import { shrink } from './shrink.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.on('message', (order: LifeOrder) => void carryOut(order).then((report) => parentPort?.postMessage(report)));

async function carryOut(order: LifeOrder): Promise<LifeReport> {
  const { seed, operations, fault, shrink: most = 0 } = order;
  const options = optionsFor(fault);
  const life = await draw(seed, operations, options);
  let findings = life.findings;
  // What is found without the fault too was not found because of it.
  if (fault !== undefined && findings.length > 0) {
    const without = new Set((await draw(seed, operations)).findings.map(({ kind }) => kind));
    findings = findings.filter(({ kind }) => !without.has(kind));
  }
  if (findings.length === 0) return { order, operations: life.operations, messages: [], tried: 0 };
  const short = most === 0 ? { history: life.history, findings, tried: 0 } : await shrink(life.history, findings, options, most);
  const messages = short.findings.map(({ message }) => message);
  return { order, operations: life.operations, messages, history: short.history, tried: short.tried };
}

function optionsFor(fault: string | undefined): LifeOptions {
  if (fault === undefined) return {};
  const known = KNOWN_FAULTS.find(({ name }) => name === fault);
  if (known === undefined) throw new RangeError(`there is no known fault "${fault}"`);
  return { rules: known.rules };
}
