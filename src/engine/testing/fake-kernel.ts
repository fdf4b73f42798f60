/**
 * Links and routes of a host as `ip` shows and changes them: a list on request, one operation at a time, and no events. An operation names a
 * link by its index, so one that was planned for a link that is gone does not reach another link of that name.
 */

export interface Link {
  readonly index: number;
  readonly name: string;
  readonly mtu: number;
  readonly up: boolean;
  /** Free text (`ip link set alias`). */
  readonly alias: string;
}

export interface Route {
  readonly to: string;
  readonly via: string;
  readonly dev: string;
  /** Who made it (`ip route … proto`): a host can have routes to one network of several makers. */
  readonly protocol: string;
}

export interface KernelState {
  readonly links: readonly Link[];
  readonly routes: readonly Route[];
}

export type KernelOperation =
  | { readonly do: 'add-link'; readonly link: Omit<Link, 'index'> }
  | { readonly do: 'set-link'; readonly index: number; readonly mtu: number; readonly up: boolean }
  | { readonly do: 'delete-link'; readonly index: number }
  | { readonly do: 'replace-route'; readonly route: Route }
  | { readonly do: 'delete-route'; readonly to: string; readonly protocol: string };

export class FakeKernel {
  /** Why an operation is rejected; undefined: it is carried out. */
  rejects: (operation: KernelOperation) => string | undefined = () => undefined;
  /** All operations that were carried out. */
  readonly applied: KernelOperation[] = [];
  /** Number of operations that were rejected. */
  rejected = 0;
  readonly #links = new Map<number, Link>();
  readonly #routes = new Map<string, Route>();
  #nextIndex = 1;

  async list(): Promise<KernelState> {
    const state = { links: [...this.#links.values()], routes: [...this.#routes.values()] };
    // The answer shows the time of the request.
    await Promise.resolve();
    return structuredClone(state);
  }

  /** @throws Error as the kernel answers; then nothing has changed */
  async apply(operation: KernelOperation): Promise<void> {
    await Promise.resolve();
    try {
      const why = this.rejects(operation);
      if (why !== undefined) throw new Error(why);
      this.#apply(operation);
      this.applied.push(operation);
    } catch (error) {
      this.rejected++;
      throw error;
    }
  }

  /** What another program does. */
  foreign(operation: KernelOperation): void {
    this.#apply(operation);
  }

  link(name: string): Link | undefined {
    return [...this.#links.values()].find((link) => link.name === name);
  }

  get names(): readonly string[] {
    return [...this.#links.values()].map(({ name }) => name).toSorted();
  }

  /** `<network> via <gateway> dev <link> proto <maker>`. */
  get routes(): readonly string[] {
    return [...this.#routes.values()].map(({ to, via, dev, protocol }) => `${to} via ${via} dev ${dev} proto ${protocol}`).toSorted();
  }

  #apply(operation: KernelOperation): void {
    switch (operation.do) {
      case 'add-link':
        if (this.link(operation.link.name) !== undefined) throw new Error('RTNETLINK answers: File exists');
        this.#links.set(this.#nextIndex, { index: this.#nextIndex, ...operation.link });
        this.#nextIndex++;
        return;
      case 'set-link': {
        const link = this.#linkAt(operation.index);
        this.#links.set(link.index, { ...link, mtu: operation.mtu, up: operation.up });
        return;
      }
      case 'delete-link': {
        const { name } = this.#linkAt(operation.index);
        this.#links.delete(operation.index);
        // The kernel removes the routes through a link with the link.
        for (const [key, { dev }] of this.#routes) if (dev === name) this.#routes.delete(key);
        return;
      }
      case 'replace-route': {
        const { route } = operation;
        if (this.link(route.dev)?.up !== true) throw new Error('Error: Nexthop device is not up.');
        this.#routes.set(`${route.to} ${route.protocol}`, route);
        return;
      }
      case 'delete-route':
        if (!this.#routes.delete(`${operation.to} ${operation.protocol}`)) throw new Error('RTNETLINK answers: No such process');
    }
  }

  #linkAt(index: number): Link {
    const link = this.#links.get(index);
    if (link === undefined) throw new Error('Cannot find device');
    return link;
  }
}
