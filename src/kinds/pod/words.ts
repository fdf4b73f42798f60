import { POD_CONDITION } from '../../api/well-known.ts';
import type { KindWords } from '../../explain/kind-words.ts';
import { addressesByIps } from '../ip/words/ips-held.ts';

export const words: KindWords = {
  counted: ['pod', 'pods'],
  ...addressesByIps('pods'),
  readiness: ({ status }) => {
    const { phase = '' } = (status ?? {}) as { readonly phase?: string };
    return { ready: phase === 'Running' || phase === 'Succeeded', reason: phase };
  },
  networkCondition: POD_CONDITION,
};
