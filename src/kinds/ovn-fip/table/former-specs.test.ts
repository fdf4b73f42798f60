import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordedSpec, specRecord } from './former-specs.ts';

test('a spec and its record: empty fields and the order of fields make no difference; what is no record is none', () => {
  const record = specRecord({ spec: { ipName: 'web.shop', ovnEip: 'e1', type: '' } });
  assert.equal(record, specRecord({ spec: { ovnEip: 'e1', ipName: 'web.shop' } }));
  assert.deepEqual(recordedSpec(record), { ovnEip: 'e1', ipName: 'web.shop' });
  for (const text of ['', '{', '[]', 'null', '"e1"', '{"ovnEip":1}', '{"ovnEip":"e1","other":"x"}', '{"__proto__":"x"}'])
    assert.equal(recordedSpec(text), undefined, text);
});
