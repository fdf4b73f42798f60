/** The agent of one node. */
import { Compiler, type Rule } from '../engine/compiler.ts';
import { Outputs } from '../engine/outputs.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { EventRecorder } from '../kube/events/event-recorder.ts';
import { OvsdbSession } from '../ovsdb/session.ts';
import type { Dial } from '../ovsdb/transport.ts';
import type { Log } from '../runtime/log.ts';
import type { Target } from '../engine/target.ts';
import { Turns } from '../engine/turns.ts';
import type { Clock, Random, Scheduler } from '../timing/clock.ts';
import { ResponderTarget } from './bfd/responder-target.ts';
import { KernelTarget } from './kernel/kernel-target.ts';
import { HostNetwork } from './kernel/host-network.ts';
import { NamespaceTarget } from './kernel/namespace-target.ts';
import type { Programs } from './kernel/programs.ts';
import type { Words } from './kernel/ran.ts';
import { QueuesTarget } from './kernel/queues-target.ts';
import { RoutingTarget } from './kernel/routing-target.ts';
import { COMPONENT, EventsTarget } from './objects/events-target.ts';
import { ObjectsTarget } from './objects/objects-target.ts';
import { StatusTarget } from './objects/status-target.ts';
import { Changes } from './listing/changes.ts';
import { OtherFirewallsTarget } from './packet-filter/other-firewalls-target.ts';
import { PacketFilterTarget } from './packet-filter/packet-filter-target.ts';
import { type ProbeHost, probeHost } from './probes/probe-host.ts';
import { ProbeProxyTarget } from './probes/probe-proxy-target.ts';
import { CniServer } from './requests/cni-server.ts';
import { RequestsTarget } from './requests/requests-target.ts';
import { Retries } from './retries.ts';
import { GATEWAY_NAMESPACE, type NodeSettings } from './rules/node-settings.ts';
import { nodeRules } from './rules/rules.ts';
import { UplinkTarget } from './uplink/uplink-target.ts';
import { VSWITCH_TABLES, VswitchTarget } from './vswitch/vswitch-target.ts';
import { nodeStatus } from './status/node-status.ts';
import { namespacePath } from './world/gateway.ts';
import { NodeWorld } from './world/node-world.ts';
import type { NodeOutput } from './world/outputs.ts';

export interface NodeAgentOptions {
  readonly settings: NodeSettings;
  readonly client: KubeClient;
  /** Endpoint of the Open_vSwitch database: `unix:/run/openvswitch/db.sock`. */
  readonly vswitch: string;
  /** The socket for the CNI plugin. */
  readonly socket: string;
  readonly programs: Programs;
  /** How Kiln itself is started: a part of the agent runs in a network namespace of its own. */
  readonly program: Words;
  readonly clock: Clock & Scheduler;
  readonly log: Log;
  /** What a simulator puts in its place; by default the system's. */
  readonly seams?: AgentSeams;
}

export interface AgentSeams {
  /** Opens the connection to the Open_vSwitch database. */
  readonly dial: Dial;
  readonly random: Random;
  /** Runs a turn after everything that is due already. */
  readonly defer: (turn: () => void) => void;
  readonly probeHost: ProbeHost;
  readonly rules: readonly Rule<NodeWorld, NodeOutput>[];
}

export class NodeAgent implements AsyncDisposable {
  readonly world = new NodeWorld();
  readonly compiler: Compiler<NodeWorld, NodeOutput>;
  readonly #targets: readonly Target[];
  readonly #turns: Turns;
  readonly #changes: Changes;
  /** Answers the plugin. */
  readonly server: CniServer;

  constructor({ settings, client, vswitch, socket, programs, program, clock, log, seams }: NodeAgentOptions) {
    const { world } = this;
    this.#changes = new Changes({ programs, clock, log });
    const wake = (): void => this.#turns.wake();
    const retries = new Retries(clock, world, wake);
    const restored = (): void => {
      if (switches.observed && kernel.observed) requests.restored();
    };
    const session = new OvsdbSession({ endpoints: [vswitch], database: 'Open_vSwitch', tables: VSWITCH_TABLES, clock, ...seams });
    const kubernetes = new ObjectsTarget({ client, node: settings.node, world, retries, clock, log, wake, ...seams });
    const status = new StatusTarget({ client, world, retries, clock, log, wake });
    const events = new EventsTarget(new EventRecorder({ client, component: COMPONENT, instance: settings.node, clock }));
    const switches = new VswitchTarget({ session, world, retries, log, wake, restored });
    const listed = { programs, retries, changes: this.#changes, log, wake };
    const host = new HostNetwork(programs);
    const kernel = new KernelTarget({ ...listed, world, clock, host, removals: new HostNetwork(programs), restored });
    const routing = new RoutingTarget(listed);
    const filter = new PacketFilterTarget({ ...listed, kind: 'packet-filter' });
    const processes = seams?.probeHost ?? probeHost({ programs, proc: '/proc' });
    const probes = new ProbeProxyTarget({ world, programs, host: processes, retries, clock, log, wake });
    const probeFilter = new PacketFilterTarget({ ...listed, kind: 'probe-filter' });
    const firewalls = new OtherFirewallsTarget(listed);
    const uplinks = new UplinkTarget({ ...listed, world, host });
    const gateway = new NamespaceTarget({ ...listed, world, namespace: settings.gatewayNamespace ?? GATEWAY_NAMESPACE });
    const responder = new ResponderTarget({ world, programs, program, retries, log, wake });
    const queues = new QueuesTarget({ ...listed, world, clock });
    const requests = new RequestsTarget(world, clock, wake, {
      isWriting: (device) => switches.isWriting(device) || kernel.isWriting(device),
      examine: (device) => switches.examine(device),
      look: async (device) => await kernel.look(device),
    });
    const filters = [filter, firewalls, probes, probeFilter];
    this.#targets = [kubernetes, status, events, switches, kernel, queues, uplinks, routing, gateway, responder, ...filters, requests];
    const parts = [
      kubernetes.desired,
      status.desired,
      events.desired,
      switches.desired,
      kernel.desired,
      queues.desired,
      uplinks.desired,
      routing.desired,
      gateway.desired,
      responder.desired,
      filter.desired,
      firewalls.desired,
      probes.desired,
      probeFilter.desired,
      requests.desired,
    ];
    const outputs = new Outputs<NodeOutput>(parts);
    this.#turns = new Turns({
      reactor: world.reactor,
      targets: this.#targets,
      clock,
      defer: seams?.defer ?? ((turn) => setImmediate(turn)),
    });
    this.server = new CniServer({
      socket,
      requests,
      gatewayNamespace: namespacePath(settings.gatewayNamespace ?? GATEWAY_NAMESPACE),
      clock,
      log,
      status: () => nodeStatus(settings.node, world, this.#targets, requests),
      notReady: () => this.waitingFor,
    });
    this.compiler = new Compiler<NodeWorld, NodeOutput>(world, outputs, seams?.rules ?? nodeRules(settings), ({ rule, key, error }) =>
      log.error('a rule failed (a bug); its last outputs stay in effect', { rule, key, error }),
    );
  }

  /** What it cannot observe or change now; empty when pods can start. */
  get waitingFor(): readonly string[] {
    return [...this.#targets.flatMap(({ waitingFor }) => waitingFor), ...this.server.waitingFor];
  }

  /** Begins to observe, and serves the plugin. What it has to do follows from what it sees. */
  async start(): Promise<void> {
    // Two agents of one node would undo what the other does: the second gets no socket.
    await this.server.listen();
    this.observe();
  }

  /** The same without the socket. */
  observe(): void {
    this.#changes.start();
    for (const target of this.#targets) target.start();
    this.#turns.wake();
  }

  /** Interfaces stay as they are. */
  async stop(): Promise<void> {
    this.#turns.stop();
    await this.server.close();
    for (const target of this.#targets.toReversed()) await target.stop();
    this.#changes.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
