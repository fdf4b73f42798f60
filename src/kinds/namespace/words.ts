import type { KindWords } from '../../explain/kind-words.ts';

export const words: KindWords = {
  readiness: ({ status }) => {
    const { phase = '' } = (status ?? {}) as { readonly phase?: string };
    return { ready: phase !== 'Terminating', reason: phase };
  },
  terminating: (name) => `Namespace ${name} is deleted when all objects in it are gone`,
};
