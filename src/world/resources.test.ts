import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allKinds } from '../api/kinds/crds.ts';
import { GROUP } from '../api/schema/kind.ts';
import { RESOURCES } from './resources.ts';
import type { ResourceTraits } from './resources.ts';

const OURS: readonly ResourceTraits[] = Object.values(RESOURCES).filter(({ group }) => group === GROUP);

test('each kind has its conditions where its CRD has room for them', () => {
  assert.deepEqual(OURS.map(({ plural }) => plural).toSorted(), allKinds.map(({ plural }) => plural).toSorted());
  for (const kind of allKinds) {
    const traits = OURS.find(({ plural }) => plural === kind.plural);
    assert.equal(traits?.kind, kind.kind);
    assert.equal(traits.namespaced, kind.scope === 'Namespaced', kind.kind);
    assert.equal(traits.statusSubresource, kind.subresources?.status !== undefined, `${kind.kind}: status subresource`);
    const fields = kind.status?.node.properties?.['conditions']?.items?.properties;
    const ofTheObject = fields !== undefined && fields['node'] === undefined;
    assert.equal(traits.conditions, ofTheObject ? 'status' : 'annotation', `${kind.kind}: conditions`);
  }
});
