/** Draws faults of the API server, the database and processes. */
import type { Random } from '../cluster/random.ts';
import type { Fault } from '../steps/step.ts';

const WATCHED = [
  'vpcs',
  'subnets',
  'ips',
  'ippools',
  'namespaces',
  'nodes',
  'pods',
  'statefulsets',
  'network-attachment-definitions',
  'vips',
  'ovn-eips',
  'iptables-eips',
  'ovn-fips',
  'ovn-snat-rules',
  'ovn-dnat-rules',
  'virtualmachineinstances',
] as const;
const CONTROLLERS = ['a', 'b'] as const;

export function drawFault(random: Random): Fault {
  const plural = random.pick(WATCHED);
  const controller = random.pick(CONTROLLERS);
  switch (
    random.weighted({
      api: 30,
      transaction: 10,
      watch: 10,
      gone: 4,
      end: 2,
      delay: 12,
      repeat: 6,
      disconnect: 3,
      restart: 2,
      leader: 2,
      kill: 12,
      stop: 4,
      jump: 2,
      term: 1,
      race: 8,
      sleep: 3,
    })
  ) {
    case 'api':
      return {
        fault: 'api',
        what: {
          sort: random.weighted({ write: 8, read: 2, lease: 1 }),
          fate: random.pick(['too-many', 'unavailable', 'error-after', 'lost-after', 'conflict', 'gone']),
          after: random.below(6),
          times: 1 + random.below(3),
        },
      };
    case 'transaction':
      return { fault: 'transaction', what: random.pick(['lose-request', 'lose-reply']) };
    case 'watch':
      return random.chance(0.3) ? { fault: 'break-watches' } : { fault: 'break-watches', plural };
    case 'gone':
      return { fault: 'gone', plural };
    case 'end':
      return { fault: 'end-watches' };
    case 'delay':
      return { fault: 'delay', plural, ms: random.pick([0, 20, 200, 2_000]) };
    case 'repeat':
      return { fault: 'repeat', plural, times: 1 + random.below(5) };
    case 'disconnect':
      return { fault: 'disconnect' };
    case 'restart':
      return { fault: 'database-restart', downMs: random.pick([10, 1_000]) };
    case 'leader':
      return { fault: 'database-leader' };
    case 'kill':
      return { fault: 'kill', controller, afterWrites: random.below(8), restartMs: random.pick([1, 100, 5_000]) };
    case 'stop':
      return { fault: 'stop', controller, ms: random.pick([500, 25_000, 45_000]), asleep: random.chance(0.5) };
    case 'jump':
      return { fault: 'jump', controller, ms: random.pick([-3_600_000, -5_000, 5_000, 3_600_000]) };
    case 'race':
      return { fault: 'race', how: random.pick(['disown', 'disown', 'delete', 'inside', 'inside']) };
    // Its Lease has expired, and its clock does not show it: only the fence shows that another process leads.
    case 'sleep':
      return { fault: 'stop', controller, ms: random.pick([35_000, 45_000]), asleep: true };
    case 'term':
      return { fault: 'term-lost' };
  }
}

/** A fault between a decision of a controller and the write that follows: chance alone hardly ever hits so short a time. */
export function drawConcurrentChange(random: Random): Fault {
  // The process wakes when another one leads, its transaction arrives only then, and its clock did not count the time.
  if (random.chance(0.25)) return { fault: 'stop-sending', controller: random.pick(CONTROLLERS), ms: random.pick([36_000, 45_000]) };
  return { fault: 'overtake', how: random.pick(['recreate', 'recreate', 'remove-by-force', 'delete']) };
}
