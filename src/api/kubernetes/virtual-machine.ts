/** KubeVirt's kinds: the fields on which addresses of virtual machines depend. */

import type { KubeObject, Labels, ObjectMeta, OwnerReference } from './meta.ts';

/** A network of a virtual machine; one without `multus` is the pod's default network. */
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

/** `kubevirt.io/v1`: continues to exist while the machine is stopped. */
export type VirtualMachine = KubeObject<VirtualMachineSpec>;

export interface VirtualMachineInstanceSpec {
  readonly networks?: readonly MachineNetwork[];
}

export interface VirtualMachineInstanceStatus {
  /** The latest migration; remains after the migration object is deleted. */
  readonly migrationState?: { readonly migrationUid?: string; readonly completed?: boolean; readonly failed?: boolean };
}

/** `kubevirt.io/v1`: one run of a virtual machine, with the machine's name. */
export type VirtualMachineInstance = KubeObject<VirtualMachineInstanceSpec, VirtualMachineInstanceStatus>;

export interface VirtualMachineInstanceMigrationSpec {
  /** The migrating instance, in the same namespace. */
  readonly vmiName?: string;
}

export interface VirtualMachineInstanceMigrationStatus {
  /** `Succeeded` and `Failed` are final; an aborted migration fails. */
  readonly phase?: string;
}

/** `kubevirt.io/v1`: one migration of a running instance to another node; its pod there is the target. */
export type VirtualMachineInstanceMigration = KubeObject<VirtualMachineInstanceMigrationSpec, VirtualMachineInstanceMigrationStatus>;

/** The instance that runs in a pod; undefined for a pod that is no virt-launcher. */
export const launchedInstance = ({ ownerReferences = [] }: Pick<ObjectMeta, 'ownerReferences'>): OwnerReference | undefined =>
  ownerReferences.find(({ kind, apiVersion }) => kind === 'VirtualMachineInstance' && apiVersion.startsWith('kubevirt.io/'));
