import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodAnnotationSuffix } from '../../../api/well-known.ts';
import { podLimits, type PodLimitsState } from './pod-limits.ts';

const of = (values: Partial<Record<PodAnnotationSuffix, string>>): PodLimitsState => podLimits((suffix) => values[suffix] ?? '');

for (const [what, values, limits] of [
  ['nothing', {}, {}],
  ['a rate of 0', { ingress_rate: '0', egress_rate: '0', egress_burst: '5' }, {}],
  ['what the pod sends', { egress_rate: '3' }, { policing: { rate: 3_000, burst: 2_400 } }],
  ['its burst', { egress_rate: '3', egress_burst: '1' }, { policing: { rate: 3_000, burst: 1_000 } }],
  ['what the pod gets', { ingress_rate: ' 3 ' }, { queue: { kind: 'rate', rate: 3_000_000, burst: 300_000 } }],
  ['its burst', { ingress_rate: '3', ingress_burst: '6' }, { queue: { kind: 'rate', rate: 3_000_000, burst: 6_000_000 } }],
  [
    'latency and loss, in microseconds and percent',
    { latency: '600', jitter: '400', limit: '2000', loss: '10.5' },
    { queue: { kind: 'impairment', latency: 600_000, jitter: 400_000, limit: 2_000, loss: 10.5 } },
  ],
  [
    'a rate before latency',
    { ingress_rate: '1', latency: '600' },
    { queue: { kind: 'rate', rate: 1_000_000, burst: 100_000 }, ignored: ['latency'] },
  ],
] as const)
  test(`limits: ${what}`, () => assert.deepEqual(of(values), { kind: 'limits', limits }));

for (const [suffix, text] of [
  ['ingress_rate', '-1'],
  ['egress_burst', '1.5'],
  ['latency', 'ten'],
  ['loss', '101'],
] as const)
  test(`${suffix} ${text} is told`, () => assert.partialDeepStrictEqual(of({ [suffix]: text }), { kind: 'invalid', suffix }));
