import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { AdmissionRequest, Operation, ReviewedObject } from '../protocol/admission-review.ts';

/** The request for a write of this object by the user `tenant`; a deletion has the object as `oldObject`. */
export function admissionRequest(operation: Operation, resource: ResourceName, object: object): AdmissionRequest {
  const { group, version, plural, kind } = traitsOf(resource);
  const reviewed = object as ReviewedObject;
  return {
    uid: 'u',
    operation,
    group,
    version,
    resource: plural,
    kind,
    subresource: '',
    namespace: reviewed.metadata.namespace ?? '',
    name: reviewed.metadata.name ?? '',
    object: operation === 'DELETE' ? undefined : reviewed,
    oldObject: operation === 'DELETE' ? reviewed : undefined,
    dryRun: false,
    fieldManager: '',
    preconditionUid: '',
    user: 'tenant',
  };
}
