/** How late the process runs its timers: the effect of a long turn, a garbage collection or a loaded machine on everything else. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 100;

export interface EventLoopLag {
  /** Seconds since the last call, by quantile. */
  take(): readonly { readonly quantile: string; readonly seconds: number }[];
  stop(): void;
}

export function watchEventLoop(): EventLoopLag {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  return {
    take: () => {
      const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1_000);
      const quantiles = [
        { quantile: '0.5', seconds: delays.count === 0 ? 0 : late(delays.percentile(50)) },
        { quantile: '0.99', seconds: delays.count === 0 ? 0 : late(delays.percentile(99)) },
        { quantile: '1', seconds: delays.count === 0 ? 0 : late(delays.max) },
      ];
      delays.reset();
      return quantiles;
    },
    stop: () => void delays.disable(),
  };
}
