/**
 * OVN's own verdict on match texts and actions: this puts them into a Southbound database as logical flows. `ovn-trace`, which has the
 * parser of ovn-controller, reports those that it cannot parse.
 */
import { execFile } from 'node:child_process';
import { OvnLab } from '../../../lab/ovn/ovn-lab.ts';
import type { OvnProgram, OvnRelease } from '../../../lab/programs/ovn.ts';
import { findOvn } from '../../../lab/programs/ovn.ts';

/** Rows per transaction: a transaction is one argument of `ovsdb-client`, of at most 128 KiB. */
const TOGETHER = 100;

export interface Flow {
  readonly match?: string;
  readonly actions?: string;
}

export class OvnVerdicts implements AsyncDisposable {
  readonly #lab: OvnLab;
  readonly #release: OvnRelease;
  #datapath = '';

  private constructor(release: OvnRelease) {
    this.#release = release;
    this.#lab = new OvnLab({ release });
  }

  /** With the address sets `as` (IPv4) and `as6`, the port group `pg`, and the ports `p` and `q` on a switch. */
  static async start(release: OvnRelease): Promise<OvnVerdicts> {
    const ovn = new OvnVerdicts(release);
    const lab = ovn.#lab;
    await lab.start();
    const ports = ['--', 'lsp-add', 's', 'p', '--', 'lsp-add', 's', 'q'];
    const sets = [
      '--',
      'create',
      'Address_Set',
      'name=as',
      'addresses="10.0.0.1"',
      '--',
      'create',
      'Address_Set',
      'name=as6',
      'addresses="fd00::1"',
    ];
    await lab.nbctl('--wait=sb', 'ls-add', 's', ...ports, ...sets, '--', 'pg-add', 'pg', 'p', 'q');
    await lab.kill('northd');
    ovn.#datapath = (await lab.sbctl('--bare', '--columns=_uuid', 'find', 'Datapath_Binding')).trim();
    return ovn;
  }

  /** OVN's error for each flow; undefined if it accepts it. */
  async verdictsOn(flows: readonly Flow[]): Promise<readonly (string | undefined)[]> {
    await this.#transact([{ op: 'delete', table: 'Logical_Flow', where: [] }]);
    const common = { logical_datapath: ['uuid', this.#datapath], pipeline: 'ingress', table_id: 0, priority: 1 };
    for (let at = 0; at < flows.length; at += TOGETHER) {
      const rows = flows.slice(at, at + TOGETHER).map(({ match = '1', actions = 'next;' }) => ({ ...common, match, actions }));
      await this.#transact(rows.map((row) => ({ op: 'insert', table: 'Logical_Flow', row })));
    }
    const output = await this.#run('ovn-trace', [`--db=${this.#lab.sbEndpoint}`, 's', 'inport == "p"']);
    return flows.map(({ match, actions }) => {
      const begin = `|WARN|${actions ?? match ?? ''}: parsing `;
      const at = output.indexOf(begin);
      return at === -1 ? undefined : output.slice(at + begin.length, output.indexOf('\n', at + begin.length));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lab.stop();
  }

  async #transact(operations: readonly object[]): Promise<void> {
    const output = await this.#run('ovsdb-client', ['transact', this.#lab.sbEndpoint, JSON.stringify(['OVN_Southbound', ...operations])]);
    if (output.includes('"error"')) throw new Error(output);
  }

  /** The whole output. A packet that matches none of the flows is no error. */
  async #run(program: OvnProgram, args: readonly string[]): Promise<string> {
    const command = findOvn(this.#release)?.command(program);
    if (command === undefined) throw new Error(`${program} of OVN ${this.#release} is not there`);
    const [file, ...first] = command;
    return await new Promise((resolve) => {
      execFile(file, [...first, ...args], { maxBuffer: 256 * 1024 * 1024 }, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
  }
}
