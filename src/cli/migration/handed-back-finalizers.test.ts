import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINALIZER } from '../../api/well-known.ts';
import { handedBackFinalizers } from './handed-back-finalizers.ts';

const object = (...finalizers: readonly string[]): Parameters<typeof handedBackFinalizers>[0] => ({ metadata: { name: 'x', finalizers } });

for (const [what, finalizers, minor, since, wanted] of [
  ['a kind that no release gives one: removed', [FINALIZER, 'example.com/other'], 17, undefined, ['example.com/other']],
  ['a kind that a later release gives one: removed', [FINALIZER], 12, 14, []],
  ['a release of the older name: renamed', [FINALIZER, 'example.com/other'], 12, 10, ['example.com/other', 'kube-ovn-controller']],
  ['both names: one is left', ['kube-ovn-controller', FINALIZER], 12, 12, ['kube-ovn-controller']],
  ['a release of the same name: as it is', [FINALIZER], 13, 10, undefined],
  ['none of ours: as it is', ['example.com/other'], 12, undefined, undefined],
] as const)
  test(what, () => {
    assert.deepEqual(handedBackFinalizers(object(...finalizers), minor, since), wanted);
  });
