/** What is known of a kind before any object of it: its name in the API, and how clusters and users have it. The lowest part of its record. */
import type { Kind } from './kind.ts';
import { GROUP, VERSION } from './kind.ts';

/** A kind of the Kubernetes API that Kiln observes or writes. */
export interface ResourceTraits {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Whether the kind has a status subresource; without one, Kiln patches the object as a whole. */
  readonly statusSubresource: boolean;
  /** Where the conditions are: a kind without conditions in its schema keeps them as JSON in an annotation. */
  readonly conditions: 'status' | 'annotation' | 'none';
}

/** An object as the API server sends it, as far as `unimplemented` reads it. */
export interface SpecOnly {
  readonly spec?: unknown;
}

/** Settings that name an object which Kiln creates in every cluster, and again after a deletion. */
export type BuiltInSetting = 'defaultVpc' | 'joinSubnet' | 'defaultSubnet';
/** Settings that name the namespace of an object. */
export type NamespaceSetting = 'externalGatewayConfigNamespace';
/** Whether the cluster needs it while it has nodes, or another one may take its place. */
export type BuiltIn = 'needed' | 'replaceable';

/** The part `resource.ts` of the record of a kind. Absent is no. */
export interface KindResource extends ResourceTraits {
  /** Its schema; undefined for kinds of other groups. */
  readonly definition?: Kind<unknown, unknown>;
  /** Short names that `kubectl` accepts, of a kind of another group. */
  readonly shortNames?: readonly string[];
  /** A cluster may lack the kind. */
  readonly optional?: true;
  /** Kiln observes one object of the kind alone: its name, in the namespace that a setting names. */
  readonly only?: { readonly name: string; readonly namespaceSetting: NamespaceSetting };
  /**
   * A cluster may have very many objects: a long first list is read from the API server's cache, which may be behind. A new leader knows that it
   * has seen all once a watch delivers its own write to one object (`written`), or the next change of any (`watched`).
   */
  readonly numerous?: 'written' | 'watched';
  /** A long list is read in parts, by the label of the node: plural name of the kind of nodes. */
  readonly listedBy?: string;
  /** Its first list takes longest: rules that have `early` run for its objects while it is read. */
  readonly listedLast?: true;
  /** The address of a logical switch port is held by the object with the name of the port. */
  readonly holdsPorts?: true;
  /** Kube-OVN writes the name of one of its objects onto a logical switch port, as that of the pod. */
  readonly namedOnPorts?: true;
  /** Pods get addresses of its objects, and none of one that is being deleted. */
  readonly givesAddresses?: true;
  /** The API server or Kiln makes an object of it in every cluster: an empty list is doubted. */
  readonly inEveryCluster?: true;
  /** Its objects of that sort. */
  readonly builtIn?: Readonly<Partial<Record<BuiltInSetting, BuiltIn>>>;
  /**
   * Its objects create pods, or objects of the kind `creates` which do. `scales`: `spec.replicas` sets the number of pods.
   */
  readonly workload?: { readonly scales?: true; readonly creates?: string };
  /** Northbound rows may belong to its objects. */
  readonly ownsRows?: true;
  /** Kiln puts keys on objects of other kinds for its objects: see `PatchOutput.leftOf`. */
  readonly ownsKeys?: true;
  /** An Event reports each row that an object needs and cannot have: its condition about that emits none. */
  readonly conflictEvents?: true;
  /** An object reports in its conditions which of its writes the API server rejected: an Event would repeat it. */
  readonly reportsRejections?: true;
  /** Other programs write conditions into its status too: Kiln's are merged by type, and those that it alone knows have its prefix. */
  readonly sharedConditions?: true;
  /** Its node waits for what Kiln writes into its metadata. */
  readonly urgentMetadata?: true;
  /** Its status changes with each address: it is written at most once a second. */
  readonly pacedStatus?: true;
  /** It is cluster-scoped, and each object is for the namespace in its `spec.namespace`. */
  readonly namespaceInSpec?: true;
  /** Kube-OVN's controller puts a finalizer on its objects, and takes it off, since this minor release of 1.x. Absent: it knows none. */
  readonly kubeOvnFinalizer?: number;
  /** Kinds that are read alike. */
  readonly family?: 'address object' | 'NAT rule';
  /** Of the family of NAT rules: its name in `status.nat` of an EIP, and the kind of that EIP by plural name. */
  readonly nat?: { readonly use: 'dnat' | 'fip' | 'snat'; readonly eips: string };
  /** The kind is not implemented: what exactly, for a report on each object; of a function, undefined for an object that requests nothing. */
  readonly unimplemented?: string | ((object: SpecOnly) => string | undefined);
}

type More = Partial<Omit<KindResource, 'group' | 'version' | 'plural' | 'kind' | 'definition'>>;

/** A kind of `kubeovn.io`, whose definition has all else. */
export function kubeOvnKind<const M extends More>(
  definition: Kind<unknown, unknown>,
  more?: M,
): ResourceTraits & { readonly definition: Kind<unknown, unknown> } & M {
  const { plural, kind, scope, subresources, status } = definition;
  return {
    group: GROUP,
    version: VERSION,
    plural,
    kind,
    namespaced: scope === 'Namespaced',
    statusSubresource: subresources?.status !== undefined,
    conditions: status?.node.properties?.['conditions'] === undefined ? 'annotation' : 'status',
    definition,
    ...(more as M),
  };
}

/** A namespaced kind of another group, with a status subresource and without conditions, unless `more` says otherwise. */
export function otherKind<const M extends More>(
  group: string,
  version: string,
  plural: string,
  kind: string,
  more?: M,
): ResourceTraits & M {
  return { group, version, plural, kind, namespaced: true, statusSubresource: true, conditions: 'none', ...(more as M) };
}
