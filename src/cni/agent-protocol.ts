/**
 * Requests and answers on the agent's socket: HTTP with JSON, as between Kube-OVN's plugin and its daemon. `add` and `del` are Kube-OVN's,
 * `check`, `gc` and `status` are Kiln's.
 */

export interface RouteRequest {
  readonly dst: string;
  readonly gw: string;
}

/** `POST /api/v1/add`, `/api/v1/del` and `/api/v1/check`. Empty texts stand for what was not given. */
export interface InterfaceRequest {
  readonly cni_type: string;
  readonly pod_name: string;
  readonly pod_namespace: string;
  /** Kiln's: of the pod that the runtime means, which may not be the one of that name that the agent observes. */
  readonly pod_uid?: string;
  readonly container_id: string;
  /** Path of the pod's network namespace; empty in a DEL for one that is gone. */
  readonly net_ns: string;
  readonly if_name: string;
  /** `ovn`, or the network of an attachment. */
  readonly provider: string;
  readonly routes?: readonly RouteRequest[];
  readonly dns?: DnsRequest;
  readonly vf_driver?: string;
  readonly deviceID: string;
  readonly vhost_user_socket_volume_name: string;
  readonly vhost_user_socket_name?: string;
  readonly vhost_user_socket_consumption: string;
  /** Kiln's, of `check`: what the runtime kept of the answer to its ADD. */
  readonly previous?: PreviousInterface;
}

/** The result of an ADD, as far as it is about one interface. Empty texts and lists for what it does not say. */
export interface PreviousInterface {
  readonly mac: string;
  /** With the length of the prefix. */
  readonly addresses: readonly string[];
  readonly routes: readonly RouteRequest[];
}

export interface DnsRequest {
  readonly nameservers?: readonly string[];
  readonly domain?: string;
  readonly search?: readonly string[];
  readonly options?: readonly string[];
}

/** The answer to `add`, with status 200. `del` answers 204 without a body; every other status has `error`. */
export interface InterfaceReply {
  readonly ips?: readonly AddressReply[] | null;
  readonly mac_address?: string;
  readonly routes?: readonly RouteRequest[] | null;
  readonly mtu?: number;
  readonly nicname?: string;
  readonly error?: string;
}

export interface AddressReply {
  readonly protocol: 'IPv4' | 'IPv6';
  readonly ip: string;
  /** The Subnet's: its length is that of the interface's mask. */
  readonly cidr: string;
  /** Only of the interface with the default route. */
  readonly gateway?: string;
}

/** `POST /api/v1/gc`: the interfaces that the runtime knows. All others of its network are gone. */
export interface CollectRequest {
  readonly attachments: readonly { readonly container_id: string; readonly if_name: string }[];
}
