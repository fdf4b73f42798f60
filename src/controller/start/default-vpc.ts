/**
 * The default Vpc of a cluster cannot change: its Subnets cannot be moved. A process with another name for it (`--cluster-router`) would take
 * the routes and policies of all nodes and Subnets away, so it writes nothing and is not ready: a rollout stops there, and the process
 * before it goes on.
 */
import { type Gate, GateKeeper } from '../../timing/gate.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { World } from '../../world/world.ts';

export class DefaultVpc {
  readonly #world: World;
  readonly #isTheirs = new GateKeeper('default-vpc');
  #problem: string | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  get gate(): Gate {
    return this.#isTheirs.gate;
  }

  /** To be called with complete lists, in each turn. */
  check(): void {
    this.#problem = problemOf(this.#world);
    this.#isTheirs.set(this.#problem === undefined);
  }

  get waitingFor(): readonly string[] {
    return this.#problem === undefined ? [] : [this.#problem];
  }
}

/** Why the setting is not that of this cluster: the built-in Subnets that exist are all in one other Vpc. */
function problemOf(world: World): string | undefined {
  const { defaultVpc, defaultSubnet, joinSubnet } = world.settings;
  const found = [joinSubnet, defaultSubnet].flatMap((name) => {
    const vpc = world.glance(() => world.ask(subnetIntent, name))?.spec.vpc ?? '';
    return vpc === '' ? [] : [{ name, vpc }];
  });
  const [first] = found;
  if (first === undefined || found.some(({ vpc }) => vpc !== first.vpc) || first.vpc === defaultVpc) return undefined;
  const names = found.map(({ name }) => name).join(' and ');
  return (
    `the default Vpc: --cluster-router is ${defaultVpc}, and Subnet ${names} of this cluster ${found.length > 1 ? 'are' : 'is'} in Vpc ${first.vpc}; ` +
    `nothing is written; set --cluster-router=${first.vpc}`
  );
}
