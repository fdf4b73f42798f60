/**
 * Kinds that users and their manifests need, and that no controller here implements: stored, validated and printed as in any cluster. Only
 * the server has them, not a simulation.
 */
import { at, list, text } from '../json.ts';
import type { ResourceDefinition, Strategy } from '../resource.ts';
import { required } from '../status.ts';
import { autoscalers, firstAutoscalerVersion } from './autoscaler.ts';
import { cronJobs, jobs, podTemplates, replicationControllers } from './batch.ts';
import { define } from './define.ts';
import { ingressClasses, ingresses } from './ingress.ts';
import { KEPT_COLUMNS as COLUMNS } from './kept-columns.ts';
import { SCALE } from './kinds.ts';
import { claims, storageClasses, volumes } from './storage.ts';
import { webhookConfigurationStrategy } from './webhook-configuration.ts';

/** Checks required fields, such as `spec.attacher`. */
function needs(...fields: string[]): Strategy {
  return {
    validate: (item) =>
      fields.flatMap((field) => {
        const value = at(item, ...field.split('.'));
        return value === undefined || value === '' || (Array.isArray(value) && value.length === 0) ? [required(field)] : [];
      }),
  };
}

const signingRequests: Strategy = {
  ...needs('spec.request', 'spec.signerName', 'spec.usages'),
  prepareCreate: (item) => void (item['status'] = {}),
};

const mutatingWebhooks: Strategy = {
  ...webhookConfigurationStrategy,
  applyDefaults: (item) => {
    webhookConfigurationStrategy.applyDefaults?.(item);
    for (const webhook of list(item['webhooks']))
      if (typeof webhook === 'object' && webhook !== null && text(at(webhook, 'reinvocationPolicy')) === '')
        Object.assign(webhook, { reinvocationPolicy: 'Never' });
  },
  warnings: (item) =>
    list(item['webhooks']).length === 0
      ? []
      : ['this laboratory keeps mutating webhooks and does not call them: nothing is changed by them'],
};

export function keptResources(): ResourceDefinition[] {
  const autoscaler = {
    shortNames: ['hpa'],
    categories: ['all'],
    hasStatus: true,
    columns: COLUMNS.horizontalpodautoscalers,
    strategy: autoscalers,
  };
  return [
    define('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', true, {
      shortNames: ['pvc'],
      hasStatus: true,
      returnsDeleted: true,
      columns: COLUMNS.persistentvolumeclaims,
      strategy: claims,
    }),
    define('', 'v1', 'persistentvolumes', 'PersistentVolume', false, {
      shortNames: ['pv'],
      hasStatus: true,
      returnsDeleted: true,
      columns: COLUMNS.persistentvolumes,
      strategy: volumes,
    }),
    define('', 'v1', 'podtemplates', 'PodTemplate', true, {
      hasGeneration: true,
      returnsDeleted: true,
      columns: COLUMNS.podtemplates,
      strategy: podTemplates,
    }),
    define('', 'v1', 'replicationcontrollers', 'ReplicationController', true, {
      shortNames: ['rc'],
      categories: ['all'],
      hasStatus: true,
      hasGeneration: true,
      scale: SCALE,
      fieldSelectors: ['status.replicas'],
      columns: COLUMNS.replicationcontrollers,
      strategy: replicationControllers,
    }),
    define('batch', 'v1', 'cronjobs', 'CronJob', true, {
      shortNames: ['cj'],
      categories: ['all'],
      hasStatus: true,
      hasGeneration: true,
      columns: COLUMNS.cronjobs,
      strategy: cronJobs,
    }),
    define('batch', 'v1', 'jobs', 'Job', true, {
      categories: ['all'],
      hasStatus: true,
      hasGeneration: true,
      fieldSelectors: ['status.successful'],
      columns: COLUMNS.jobs,
      strategy: jobs,
    }),
    define('autoscaling', 'v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', true, {
      ...autoscaler,
      type: 'V2HorizontalPodAutoscaler',
    }),
    define('autoscaling', 'v1', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', true, {
      ...autoscaler,
      view: firstAutoscalerVersion,
    }),
    define('networking.k8s.io', 'v1', 'ingressclasses', 'IngressClass', false, {
      hasGeneration: true,
      columns: COLUMNS.ingressclasses,
      strategy: ingressClasses,
    }),
    define('networking.k8s.io', 'v1', 'ingresses', 'Ingress', true, {
      shortNames: ['ing'],
      hasStatus: true,
      hasGeneration: true,
      columns: COLUMNS.ingresses,
      strategy: ingresses,
    }),
    define('storage.k8s.io', 'v1', 'csidrivers', 'CSIDriver', false, { columns: COLUMNS.csidrivers, unconditionalUpdate: false }),
    define('storage.k8s.io', 'v1', 'csinodes', 'CSINode', false, { columns: COLUMNS.csinodes, unconditionalUpdate: false }),
    define('storage.k8s.io', 'v1', 'storageclasses', 'StorageClass', false, {
      shortNames: ['sc'],
      columns: COLUMNS.storageclasses,
      strategy: storageClasses,
    }),
    define('storage.k8s.io', 'v1', 'volumeattachments', 'VolumeAttachment', false, {
      hasStatus: true,
      unconditionalUpdate: false,
      columns: COLUMNS.volumeattachments,
      strategy: needs('spec.attacher', 'spec.nodeName', 'spec.source'),
    }),
    define('node.k8s.io', 'v1', 'runtimeclasses', 'RuntimeClass', false, {
      unconditionalUpdate: false,
      columns: COLUMNS.runtimeclasses,
      strategy: needs('handler'),
    }),
    define('certificates.k8s.io', 'v1', 'certificatesigningrequests', 'CertificateSigningRequest', false, {
      shortNames: ['csr'],
      hasStatus: true,
      fieldSelectors: ['spec.signerName'],
      columns: COLUMNS.certificatesigningrequests,
      strategy: signingRequests,
    }),
    define('admissionregistration.k8s.io', 'v1', 'mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', false, {
      categories: ['api-extensions'],
      hasGeneration: true,
      columns: COLUMNS.mutatingwebhookconfigurations,
      strategy: mutatingWebhooks,
    }),
  ];
}
