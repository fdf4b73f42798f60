/**
 * What is being deleted takes nobody new: of a Subnet, a Vpc or an EIP that was on its way out when all was quiet, nobody who came since is given
 * anything. Read from objects and rows, by no rule.
 */
import {
  annotationKey,
  DEFAULT_SUBNET,
  DEFAULT_VPC,
  JOIN_SUBNET,
  kilnAnnotation,
  labelKey,
  podAnnotation,
} from '../../src/api/well-known.ts';
import type { Condition } from '../../src/api/kubernetes/meta.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import type { Finding } from './judge.ts';
import { isTrue } from './reading.ts';

const SUBNETS = 'subnets.kubeovn.io';
const VPCS = 'vpcs.kubeovn.io';
const IPS = 'ips.kubeovn.io';
const POOLS = 'ippools.kubeovn.io';
/** Kinds that are given an address, each with the fields of its status that have it. */
const ADDRESSED = [
  ['vips.kubeovn.io', ['v4ip', 'v6ip']],
  ['ovn-eips.kubeovn.io', ['v4Ip', 'v6Ip']],
] as const;
/** Serve on, whoever deletes them: `built-ins.ts`. */
const BUILT_IN: ReadonlySet<string> = new Set([DEFAULT_VPC, DEFAULT_SUBNET, JOIN_SUBNET]);
const ALLOCATED = podAnnotation('ovn', 'allocated');
/** Rules, each with the table of the EIPs that it names. */
const RULES: readonly (readonly [table: string, eips: string])[] = (['fips', 'snat-rules', 'dnat-rules'] as const).flatMap((kind) => [
  [`ovn-${kind}.kubeovn.io`, 'ovn-eips.kubeovn.io'] as const,
  [`iptables-${kind === 'fips' ? 'fip-rules' : kind}.kubeovn.io`, 'iptables-eips.kubeovn.io'] as const,
]);
const EIPS = ['ovn-eips.kubeovn.io', 'iptables-eips.kubeovn.io'] as const;
const COMING: ReadonlySet<string> = new Set(['pods', SUBNETS, POOLS, ...[...ADDRESSED, ...RULES].map(([table]) => table)]);

const EIPS_OF: ReadonlyMap<string, string> = new Map(RULES);

const eipOf = (object: KubeObject): string => {
  const { ovnEip, eip } = (object['spec'] ?? {}) as { readonly ovnEip?: string; readonly eip?: string };
  return ovnEip ?? eip ?? '';
};

const vpcOf = (object: KubeObject): string => ((object['spec'] ?? {}) as { readonly vpc?: string }).vpc ?? '';

export class Latecomers {
  readonly #store: ObjectStore;
  readonly #hasSwitch: (uid: string, name: string) => boolean;
  /** `<table> <name>` of what was being deleted at the last rest, by uid. */
  #going = new Map<string, string>();
  /** What came since: the Vpc that it named then, if any, by uid. */
  readonly #came = new Map<string, string>();
  /** The EIP that each rule names, by uid. */
  readonly #named = new Map<string, string>();
  /** Rules that were edited since to name another EIP than they named before, and were marked with: that EIP, by uid. */
  readonly #renamed = new Map<string, string>();

  /** @param hasSwitch whether a Subnet has a switch of its own */
  constructor(store: ObjectStore, hasSwitch: (uid: string, name: string) => boolean) {
    this.#store = store;
    this.#hasSwitch = hasSwitch;
    store.watchAll(({ type, table, object }) => {
      if (EIPS_OF.has(table)) this.#noteEip(object);
      const { uid, finalizers = [], annotations = {}, labels = {} } = object.metadata;
      // One from a backup has what it had.
      const isNew =
        finalizers.length === 0 &&
        annotations[kilnAnnotation.given] === undefined &&
        annotations[ALLOCATED] === undefined &&
        annotations[annotationKey.vpcEip] === undefined &&
        (labels[labelKey.eipV4] ?? '') === '' &&
        (labels[labelKey.eipV6] ?? '') === '';
      if (type === 'ADDED' && COMING.has(table) && isNew) this.#came.set(uid, vpcOf(object));
    });
  }

  /** All is quiet and judged. */
  remember(): void {
    this.#came.clear();
    this.#renamed.clear();
    this.#going = new Map(
      [SUBNETS, VPCS, ...EIPS].flatMap((table) =>
        this.#store
          .list(table)
          .filter(({ metadata }) => metadata.deletionTimestamp !== undefined && !BUILT_IN.has(metadata.name))
          .map(({ metadata }) => [`${table} ${metadata.name}`, metadata.uid] as const),
      ),
    );
  }

  judge(): readonly Finding[] {
    const told = (who: string, into: string): Finding => ({
      kind: `I5 late ${who.split(' ')[0] ?? ''}`,
      message: `I5: ${who} came when ${into} was being deleted, and is in it`,
    });
    const pods = this.#since('pods').flatMap((pod) => {
      const { name, namespace = '', annotations = {}, ownerReferences = [] } = pod.metadata;
      const subnet = annotations[podAnnotation('ovn', 'logical_switch')] ?? '';
      const ip = this.#store.get(IPS, `${name}.${namespace}`);
      // An address that was kept for it, or that it shares, was there before it.
      const isNew = ownerReferences.length === 0 && ip?.metadata.annotations?.[kilnAnnotation.podUid] === pod.metadata.uid;
      const isPlain = ip?.metadata.labels?.[labelKey.ipReserved] !== 'true' && annotations[annotationKey.vip] === undefined;
      return isNew && isPlain && this.#isGoing(SUBNETS, subnet) ? [told(`Pod ${namespace}/${name}`, `Subnet ${subnet}`)] : [];
    });
    const objects = ADDRESSED.flatMap(([table, addresses]) =>
      this.#since(table).flatMap((object) => {
        const subnet = object.metadata.labels?.[labelKey.subnet] ?? '';
        const status = (object['status'] ?? {}) as Readonly<Record<string, string>>;
        const has = addresses.some((one) => (status[one] ?? '') !== '');
        return has && this.#isGoing(SUBNETS, subnet) ? [told(`${object.kind} ${object.metadata.name}`, `Subnet ${subnet}`)] : [];
      }),
    );
    const subnets = this.#since(SUBNETS).flatMap((subnet) => {
      const { uid, name } = subnet.metadata;
      const vpc = vpcOf(subnet);
      // One that is edited into another Vpc stays where it is, and is told.
      const isNew = this.#came.get(uid) === vpc;
      return isNew && this.#isGoing(VPCS, vpc) && this.#hasSwitch(uid, name) ? [told(`Subnet ${name}`, `Vpc ${vpc}`)] : [];
    });
    const pools = this.#since(POOLS).flatMap(({ metadata, ...pool }) => {
      const { subnet = '' } = (pool['spec'] ?? {}) as { readonly subnet?: string };
      const { conditions } = (pool['status'] ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
      return this.#isGoing(SUBNETS, subnet) && isTrue(conditions, 'Ready') ? [told(`IPPool ${metadata.name}`, `Subnet ${subnet}`)] : [];
    });
    const rules = RULES.flatMap(([table, eips]) =>
      this.#since(table).flatMap((rule) => {
        const eip = rule.metadata.annotations?.[annotationKey.vpcEip] ?? '';
        return eip !== '' && this.#isGoing(eips, eip) ? [told(`${rule.kind} ${rule.metadata.name}`, `EIP ${eip}`)] : [];
      }),
    );
    return [...this.#edited(told), ...pods, ...objects, ...subnets, ...pools, ...rules];
  }

  /** Rules that an edit brought to an EIP on its way out. */
  #edited(told: (who: string, into: string) => Finding): readonly Finding[] {
    if (this.#renamed.size === 0) return [];
    return RULES.flatMap(([table, eips]) =>
      this.#store.list(table).flatMap((rule) => {
        const eip = this.#renamed.get(rule.metadata.uid) ?? '';
        if (eip === '' || eipOf(rule) !== eip || !this.#isGoing(eips, eip)) return [];
        const { conditions } = (rule['status'] ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
        const isTold =
          conditions?.some(({ reason, message }) => reason === 'EipTerminating' && message?.includes(`"${eip}"`) === true) === true;
        const isIn = rule.metadata.annotations?.[annotationKey.vpcEip] === eip;
        return isIn || !isTold ? [told(`${rule.kind} ${rule.metadata.name}`, `EIP ${eip}`)] : [];
      }),
    );
  }

  #noteEip(rule: KubeObject): void {
    const { uid, annotations = {} } = rule.metadata;
    const eip = eipOf(rule);
    const before = this.#named.get(uid);
    this.#named.set(uid, eip);
    if (before === undefined || before === eip) return;
    const mark = annotations[annotationKey.vpcEip];
    // One whose mark is not written yet may have named it before.
    if (mark === undefined || mark === eip) this.#renamed.delete(uid);
    else this.#renamed.set(uid, eip);
  }

  #since(table: string): readonly KubeObject[] {
    return this.#store.list(table).filter(({ metadata }) => this.#came.has(metadata.uid));
  }

  /** Since before the last rest, and still. */
  #isGoing(table: string, name: string): boolean {
    const uid = this.#going.get(`${table} ${name}`);
    return uid !== undefined && this.#store.get(table, name)?.metadata.uid === uid;
  }
}
