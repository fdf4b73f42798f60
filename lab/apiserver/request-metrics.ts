/** `/metrics`: finished and running requests, and the number of objects, under the names of a real API server. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Verb } from './faults/fault.ts';
import type { ResourceTarget } from './request.ts';
import type { ResourceRegistry } from './registry.ts';
import { resourceName } from './status.ts';
import type { ObjectStore } from './store.ts';
import { VERSION } from './version.ts';

const VERBS: Readonly<Record<Verb, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};
const NO_RESOURCE: ResourceTarget = { group: '', version: '', namespace: '', plural: '', name: '', subresource: '' };
const OF_RESOURCE = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
const SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 5, 10, 30, 60];

export class RequestMetrics {
  readonly #registry = new Registry();
  readonly #total: Counter;
  readonly #seconds: Histogram;
  readonly #underWay: Gauge;
  readonly #watches: Gauge;
  readonly #resources: ResourceRegistry;

  constructor(store: ObjectStore, resources: ResourceRegistry) {
    const registers = [this.#registry];
    this.#resources = resources;
    this.#total = new Counter({
      name: 'apiserver_request_total',
      help: 'Requests that were answered, by what they asked for and the HTTP status of the answer',
      labelNames: [...OF_RESOURCE, 'dry_run', 'code'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from a request to the end of its answer, of those that are no watches',
      labelNames: [...OF_RESOURCE, 'dry_run'],
      buckets: SECONDS,
      registers,
    });
    this.#underWay = new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests that are being answered, watches aside',
      labelNames: ['request_kind'],
      registers,
    });
    this.#watches = new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Watches that are open',
      labelNames: OF_RESOURCE,
      registers,
    });
    const objects: Gauge = new Gauge({
      name: 'apiserver_storage_objects',
      help: 'Objects in the store, by resource',
      labelNames: ['resource'],
      registers,
      collect: () => {
        objects.reset();
        for (const definition of resources.all())
          if (definition.view === undefined) objects.set({ resource: resourceName(definition) }, store.count(definition.table));
      },
    });
    this.#ofProcess();
    const { major = '', minor = '', gitVersion = '', goVersion = '', platform = '' } = VERSION as Readonly<Record<string, string>>;
    new Gauge({
      name: 'kubernetes_build_info',
      help: 'Always 1; its labels say what this server is',
      labelNames: ['major', 'minor', 'git_version', 'go_version', 'platform'],
      registers,
    }).set({ major, minor, git_version: gitVersion, go_version: goVersion, platform }, 1);
  }

  #ofProcess(): void {
    const gauge = (name: string, help: string, value: () => number): void => {
      const made: Gauge = new Gauge({ name, help, registers: [this.#registry], collect: () => made.set(value()) });
    };
    gauge('process_resident_memory_bytes', 'Memory that the process has', () => process.memoryUsage.rss());
    gauge('process_start_time_seconds', 'When the process began, in seconds since 1970', () => performance.timeOrigin / 1000);
    const spent = (): number => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    };
    gauge('process_cpu_seconds_total', 'Processor time that the process took', spent);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Called at the beginning of a request. @returns must be called once, with the status, at its end */
  begin(verb: Verb, target: ResourceTarget | undefined, dryRun: string): (status: number) => void {
    const known = target !== undefined && this.#resources.find(target.group, target.version, target.plural) !== undefined;
    // Paths without a resource share one label: clients may request any path.
    const { group, version, plural, subresource, namespace, name } = known ? target : NO_RESOURCE;
    const labels = {
      ...{ verb: known || verb !== 'list' ? VERBS[verb] : 'GET', group, version, resource: plural, subresource },
      scope: !known ? '' : name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster',
      component: known ? 'apiserver' : '',
    };
    const isWatch = verb === 'watch';
    const kind = { request_kind: ['get', 'list'].includes(verb) ? 'readOnly' : 'mutating' };
    const begun = performance.now();
    if (isWatch) this.#watches.inc(labels);
    else this.#underWay.inc(kind);
    return (status) => {
      this.#total.inc({ ...labels, dry_run: dryRun, code: String(status) });
      if (isWatch) this.#watches.dec(labels);
      else {
        this.#underWay.dec(kind);
        this.#seconds.observe({ ...labels, dry_run: dryRun }, (performance.now() - begun) / 1000);
      }
    };
  }
}
