/** Metrics and probes are served at the flag's address, or the start fails with a message. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { test } from 'node:test';
import type { Controller } from '../../controller/controller.ts';
import { LabApiServer } from '../../../lab/apiserver/server.ts';
import { SILENT } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { AddressError, laboratoryProblem, serveController, serveInTurn } from './operations.ts';

test('an address that another program has, or that this host has not, is named with the reason and what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const controller = { waitingFor: [] } as unknown as Controller;
  const serve = (bind: string): Promise<() => Promise<void>> => serveController(bind, controller, new Metrics(), SILENT);
  await assert.rejects(serve(`127.0.0.1:${port}`), {
    name: 'AddressError',
    message: `--metrics-bind-address 127.0.0.1:${port} is not available: another program listens there; choose another one, or off`,
  });
  await assert.rejects(
    serve('192.0.2.1:10670'),
    /192\.0\.2\.1:10670 is not available: this host has no such address; choose another one, or off$/,
  );
  other.close();
  await once(other, 'close');
  await (
    await serve(`127.0.0.1:${port}`)
  )();
  await (
    await serve('off')
  )();
});

test("a laboratory's port that another program has is named with its flag; what else fails is left as it is", async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const failure = await new LabApiServer({ port }).start().then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.throws(
    () => {
      throw laboratoryProblem(port, failure);
    },
    { name: 'AddressError', message: `--port ${port} is not available: another program listens there; choose another one, or omit it` },
  );
  const another = new Error('no OVN');
  assert.equal(laboratoryProblem(port, another), another);
  other.close();
});

test('of three replicas on one node one serves, and the next one begins when it ends, or is killed; a signal ends one that waits', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const controller = { waitingFor: [] } as unknown as Controller;
  const serve = (): Promise<() => Promise<void>> => serveController(`127.0.0.1:${port}`, controller, new Metrics(), SILENT);
  const never = new Promise<never>(() => {});
  const began: string[] = [];
  const replica = async (name: string): Promise<() => Promise<void>> => {
    const end = (await serveInTurn(serve, never, SILENT)) ?? assert.fail('not stopped');
    began.push(name);
    return end;
  };
  const replicas = [replica('a'), replica('b')];
  const stopped = serveInTurn(serve, Promise.resolve(), SILENT);
  assert.equal(await stopped, undefined);
  assert.deepEqual(began, []);
  other.close();
  const end = await Promise.race(replicas);
  assert.equal(began.length, 1);
  await end();
  for (const one of replicas) await (await one)();
  assert.deepEqual(new Set(began), new Set(['a', 'b']));
});

test('what else keeps an address from being used ends the start of a replica at once', async () => {
  const controller = { waitingFor: [] } as unknown as Controller;
  const serve = (): Promise<() => Promise<void>> => serveController('192.0.2.1:10670', controller, new Metrics(), SILENT);
  await assert.rejects(serveInTurn(serve, new Promise(() => {}), SILENT), AddressError);
});
