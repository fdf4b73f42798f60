import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJson as parseAsClient, stringifyJson } from '../../src/kube/json.ts';
import { asRead, asSent } from './exchanged.ts';
import { object, parseJson } from './json.ts';

const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(
      fc.string({ maxLength: 3 }).filter((key) => key !== '__proto__'),
      fc.oneof(tie('tree'), fc.constant(undefined)),
      {
        maxKeys: 4,
        noNullPrototype: true,
      },
    ),
  ),
}));

describe('values between an in-process client and the store', () => {
  it('equal what each side would read from their JSON', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string({ maxLength: 3 }).filter((key) => key !== '__proto__'),
          tree,
          { noNullPrototype: true },
        ),
        (body) => {
          const text = stringifyJson(body);
          const stored = parseJson(text);
          assert.deepEqual(asSent(body), stored);
          assert.deepEqual(asRead(asSent(body)), parseAsClient(text));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are copied on the way in, and handed out uncopied where their JSON would read the same', () => {
    const body = { spec: { list: [{ a: 1 }] } };
    const stored = asSent(body) as typeof body;
    assert.notEqual(stored.spec.list[0], body.spec.list[0]);
    assert.equal(asRead(stored), stored);
    const counted = object(parseJson('{"spec":{"a":1},"status":{"v6availableIPs":18446744073709551}}'));
    const read = asRead(counted) as typeof counted;
    assert.deepEqual(read['status'], { v6availableIPs: 18446744073709551n });
    assert.equal(read['spec'], counted['spec']);
    assert.equal(asRead(counted), read);
  });

  it('lose undefined members, as JSON does', () => {
    assert.deepEqual(Object.keys(asSent({ a: undefined, b: [undefined] }) as object), ['b']);
    assert.deepEqual(asSent({ b: [undefined], c: Number.NaN }), { b: [null], c: null });
    const held = { metadata: { name: 'x', labels: undefined } };
    assert.deepEqual(Object.keys((asRead(held as never) as typeof held).metadata), ['name']);
  });
});
