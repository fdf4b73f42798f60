/** KubeVirt's kinds, as far as the addresses of virtual machines depend on them. */

import type { KubeObject, Labels, ObjectMeta, OwnerReference } from './meta.ts';

/** A network of a virtual machine; one without `multus` is the pod's own. */
export interface MachineNetwork {
  readonly name?: string;
  /** `networkName`: `namespace/name` or `name` of a NetworkAttachmentDefinition. */
  readonly multus?: { readonly networkName?: string };
}

export interface VirtualMachineSpec {
  readonly template?: {
    readonly metadata?: { readonly annotations?: Labels };
    readonly spec?: { readonly networks?: readonly MachineNetwork[] };
  };
}

/** `kubevirt.io/v1`: stays while it is stopped. */
export type VirtualMachine = KubeObject<VirtualMachineSpec>;

export interface VirtualMachineInstanceSpec {
  readonly networks?: readonly MachineNetwork[];
}

export interface VirtualMachineInstanceStatus {
  /** Its last move, kept when the migration itself is gone. */
  readonly migrationState?: { readonly migrationUid?: string; readonly completed?: boolean; readonly failed?: boolean };
}

/** `kubevirt.io/v1`: one run of a machine, of the same name. */
export type VirtualMachineInstance = KubeObject<VirtualMachineInstanceSpec, VirtualMachineInstanceStatus>;

export interface VirtualMachineInstanceMigrationSpec {
  /** The instance that moves, in the same namespace. */
  readonly vmiName?: string;
}

export interface VirtualMachineInstanceMigrationStatus {
  /** `Succeeded` and `Failed` are final; an aborted one fails. */
  readonly phase?: string;
}

/** `kubevirt.io/v1`: one move of a running instance to another node; its pod there is the target. */
export type VirtualMachineInstanceMigration = KubeObject<VirtualMachineInstanceMigrationSpec, VirtualMachineInstanceMigrationStatus>;

/** The instance that a pod runs; undefined for a pod that is no launcher. */
export const launchedInstance = ({ ownerReferences = [] }: Pick<ObjectMeta, 'ownerReferences'>): OwnerReference | undefined =>
  ownerReferences.find(({ kind, apiVersion }) => kind === 'VirtualMachineInstance' && apiVersion.startsWith('kubevirt.io/'));
