/** The next step for each error code, for failed commands and the reference. */
import type { KubeErrorCode } from '../../kube/errors.ts';
import type { OvsdbErrorCode } from '../../ovsdb/index.ts';

const AGAIN = 'run the command again';
const ACCESS = 'kubectl auth can-i --list';
const SERVER = 'kubectl cluster-info';

export const KUBE_ADVICE: Readonly<Record<KubeErrorCode, string>> = {
  KUBE_BAD_REQUEST: AGAIN,
  KUBE_UNAUTHORIZED: ACCESS,
  KUBE_FORBIDDEN: ACCESS,
  KUBE_DENIED:
    'change what the message names; kubectl get validatingwebhookconfigurations,validatingadmissionpolicies lists what may deny it',
  KUBE_NOT_FOUND: AGAIN,
  KUBE_NOT_SERVED: 'kubectl apply -f deploy/crds.yaml',
  KUBE_CONFLICT: AGAIN,
  KUBE_ALREADY_EXISTS: AGAIN,
  KUBE_PRECONDITION: AGAIN,
  KUBE_GONE: AGAIN,
  KUBE_INVALID: 'correct the field that the message names',
  KUBE_TOO_LARGE: 'make the object smaller',
  KUBE_NAMESPACE_TERMINATING: 'wait until the namespace is gone, or use another',
  KUBE_DISRUPTION_BUDGET: 'kubectl get poddisruptionbudgets -A',
  KUBE_TOO_MANY_REQUESTS: 'wait a moment, then run the command again',
  KUBE_WEBHOOK_FAILED: 'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations',
  KUBE_INTERNAL: SERVER,
  KUBE_UNAVAILABLE: SERVER,
  KUBE_TIMEOUT: SERVER,
  KUBE_UNREACHABLE: SERVER,
  KUBE_DISCONNECTED: SERVER,
  KUBE_PROTOCOL: SERVER,
  KUBE_ANSWER_TOO_LARGE: SERVER,
  KUBE_LIST_DOUBTED: 'compare the list with the object by name, and check proxies between them: kubectl get -A KIND; kubectl get KIND NAME',
  KUBE_CONFIG: 'name another file with --kubeconfig, or another --context',
  KUBE_FENCED: 'nothing: the leader does it',
  KUBE_SUPERSEDED: 'nothing: the newer write counts',
  KUBE_CLOSED: 'nothing: the process was ending',
};

const REACH = 'check the endpoints and that ovsdb-server runs: kiln config, ovn-nbctl --db=ENDPOINT show';
const CLUSTER = 'ovs-appctl -t ovnnb_db.ctl cluster/status OVN_Northbound';
const RECOVERS = 'nothing: it is read again';
const REPORT = 'see the row that the log names; when it lasts, report it with that line';

export const OVSDB_ADVICE: Readonly<Record<OvsdbErrorCode, string>> = {
  OVSDB_BAD_ENDPOINT: 'correct --ovn-nb',
  OVSDB_BAD_OPTION: 'correct the flag that the message names',
  OVSDB_CONNECT_FAILED: REACH,
  OVSDB_CONNECT_TIMEOUT: REACH,
  OVSDB_DISCONNECTED: REACH,
  OVSDB_PROBE_TIMEOUT: 'look at the load of ovsdb-server',
  OVSDB_BROKEN_STREAM: 'check that the endpoint is an OVSDB server, and ssl: where it speaks TLS',
  OVSDB_MESSAGE_TOO_LARGE: REPORT,
  OVSDB_PROTOCOL: 'check that the endpoint is an OVSDB server',
  OVSDB_NO_REPLY: 'check proxies between this client and ovsdb-server, or restart ovsdb-server',
  OVSDB_EFFECT_MISSING: 'check proxies between this client and ovsdb-server, or restart ovsdb-server',
  OVSDB_BAD_SCHEMA: 'check the version of OVN',
  OVSDB_BAD_VALUE: REPORT,
  OVSDB_INCONSISTENT: RECOVERS,
  OVSDB_NO_DATABASE: 'check that the endpoint is the Northbound database, and that its server has joined its cluster',
  OVSDB_NOT_LEADER: 'name all members of the cluster in --ovn-nb: the leader is found',
  OVSDB_CLUSTER_DISCONNECTED: CLUSTER,
  OVSDB_STALE_SERVER: CLUSTER,
  OVSDB_OTHER_CLUSTER: 'take the endpoint that the message names out of --ovn-nb, or let its server join the cluster',
  OVSDB_MONITOR_CANCELED: RECOVERS,
  OVSDB_NOT_MONITORED: REPORT,
  OVSDB_TRANSACTION_TIMEOUT: 'look at the load of ovsdb-server',
  OVSDB_CLOSED: 'nothing: the process was ending',
  OVSDB_READ_ONLY: REPORT,
  OVSDB_ABORTED: REPORT,
  OVSDB_CANCELED: REACH,
  OVSDB_CLUSTER_ERROR: CLUSTER,
  OVSDB_CONSTRAINT_VIOLATION: REPORT,
  OVSDB_DOMAIN_ERROR: REPORT,
  OVSDB_DUPLICATE_UUID: 'nothing: it was done before',
  OVSDB_DUPLICATE_UUID_NAME: REPORT,
  OVSDB_INTERNAL_ERROR: 'see the log of ovsdb-server',
  OVSDB_IO_ERROR: 'see the log of ovsdb-server, and its disk',
  OVSDB_NOT_ALLOWED: REPORT,
  OVSDB_NOT_OWNER: REPORT,
  OVSDB_NOT_SUPPORTED: 'check the version of OVN',
  OVSDB_OVSDB_ERROR: 'see the log of ovsdb-server',
  OVSDB_PERMISSION_ERROR: 'the role of the certificate (RBAC of ovsdb-server) does not allow this: use another',
  OVSDB_RANGE_ERROR: REPORT,
  OVSDB_REFERENTIAL_INTEGRITY_VIOLATION: REPORT,
  OVSDB_RESOURCES_EXHAUSTED: 'look at the memory and disk of ovsdb-server',
  OVSDB_SYNTAX_ERROR: REPORT,
  OVSDB_TIMED_OUT: 'nothing: a row changed meanwhile, and it is planned anew',
  OVSDB_UNKNOWN_COLUMN: 'check the version of OVN',
  OVSDB_UNKNOWN_DATABASE: 'check that the endpoint is the Northbound database',
  OVSDB_UNKNOWN_METHOD: 'check the version of ovsdb-server',
  OVSDB_UNKNOWN_TABLE: 'check the version of OVN',
  OVSDB_SERVER_ERROR: 'see the log of ovsdb-server',
};
