import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePorts } from './free-port.ts';

test('ports differ and can be taken at once', async () => {
  const ports = await freePorts(20);
  assert.equal(new Set(ports).size, 20);
  for (const port of ports) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    await once(server.close(), 'close');
  }
});
