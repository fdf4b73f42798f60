import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairMemory } from './fair-memory.ts';

describe('FairMemory', () => {
  it('forgets the least recently used entry of the share with too many, and none of another share', () => {
    const memory = new FairMemory<number>(3, 100);
    memory.set('quiet', 'q', 1);
    for (let n = 0; n < 3; n++) memory.set('flood', `f${n}`, n);
    memory.set('flood', 'f0', 10);
    for (let n = 3; n < 1_000; n++) memory.set('flood', `f${n}`, n);
    assert.equal(memory.get('quiet', 'q'), 1);
    assert.deepEqual(
      ['f0', 'f996', 'f997', 'f998', 'f999'].map((key) => memory.get('flood', key)),
      [undefined, undefined, 997, 998, 999],
    );
    assert.equal(memory.size, 4);
  });

  it('is limited in total: the largest share loses an entry', () => {
    const memory = new FairMemory<number>(10, 10);
    for (let n = 0; n < 10; n++) memory.set('flood', `f${n}`, n);
    for (let n = 0; n < 5; n++) memory.set(`small ${n}`, 's', n);
    assert.equal(memory.size, 10);
    for (let n = 0; n < 5; n++) assert.equal(memory.get(`small ${n}`, 's'), n);
  });

  it('forgets deleted entries and empty shares', () => {
    const memory = new FairMemory<number>(10, 10);
    memory.set('a', 'one', 1);
    assert.equal(memory.delete('a', 'one'), true);
    assert.equal(memory.delete('a', 'one'), false);
    assert.equal(memory.size, 0);
  });
});
