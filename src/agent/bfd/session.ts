/**
 * One session of BFD with a router: RFC 5880, section 6.8, asynchronous mode, passive role. Pure: times are milliseconds of the caller's clock.
 */
import { type BfdPacket, type BfdState, DIAGNOSTIC } from './packet.ts';

export interface BfdSession {
  /** Our discriminator. */
  readonly mine: number;
  /** The router's; 0: nothing was heard of it for too long. */
  readonly yours: number;
  readonly state: BfdState;
  readonly diagnostic: number;
  /** Our intervals changed, and the router has not confirmed it. */
  readonly polling: boolean;
  readonly peer: Pick<BfdPacket, 'multiplier' | 'minTx' | 'minRx'>;
  readonly heardAt: number;
  /** When the next packet is due; Infinity for none. */
  readonly sendAt: number;
}

/** What happened to a session. */
export interface BfdStep {
  /** Undefined: it is forgotten. */
  readonly session: BfdSession | undefined;
  /** Packets to send now, in order. */
  readonly send: readonly BfdPacket[];
}

/** The more often it is told, the sooner a router sees a gateway die: its own settings decide, and this is the least. */
const MIN_TX_MS = 100;
/** That a router died is no news for a gateway. */
const MIN_RX_MS = 1_000;
/**
 * Longer than section 6.8.4 has it: OVN 23.03 sends nothing to any gateway for about ten seconds after one of them died, and a session that ended by
 * that would take the others out as well.
 */
const HOLD_MS = 30_000;
/** Section 6.8.3: not faster while a session is not up. */
const SLOW_MS = 1_000;
/** A router that is gone is forgotten. */
const FORGET_MS = 60_000;

/**
 * @param session that of the sender, if it has one
 * @param mine the discriminator of a new one
 * @param jitter from 0 to 1: how much earlier the next packet is sent than it may be at latest
 */
export function heard(session: BfdSession | undefined, packet: BfdPacket, now: number, mine: number, jitter: number): BfdStep {
  if (packet.yours !== 0 && packet.yours !== session?.mine) return { session, send: [] };
  const before: BfdSession = session ?? {
    ...{ mine, yours: 0, state: 'down', diagnostic: DIAGNOSTIC.none, polling: false },
    ...{ peer: packet, heardAt: now, sendAt: Infinity },
  };
  const { multiplier, minTx, minRx } = packet;
  const state = nextState(before.state, packet.state);
  const fell = before.state !== 'down' && state === 'down';
  const rose = before.state !== 'up' && state === 'up';
  const after: BfdSession = {
    ...before,
    yours: packet.mine,
    state,
    diagnostic: fell ? DIAGNOSTIC.neighbourDown : rose ? DIAGNOSTIC.none : before.diagnostic,
    polling: state === 'up' && (rose || (before.polling && !packet.final)),
    peer: { multiplier, minTx, minRx },
    heardAt: now,
  };
  const isNew = before.yours === 0;
  const changed = isNew || after.state !== before.state || after.peer.minRx !== before.peer.minRx;
  const send = [...(packet.poll ? [packetOf(after, true)] : []), ...(changed && !packet.poll ? [packetOf(after)] : [])];
  return { session: changed ? scheduled(after, now, jitter) : after, send };
}

/** Called when `dueAt` is reached. */
export function elapsed(session: BfdSession, now: number, jitter: number): BfdStep {
  if (session.state === 'down' && now >= session.heardAt + FORGET_MS) return { session: undefined, send: [] };
  if (session.yours !== 0 && now >= session.heardAt + detectionMs(session)) {
    const fell = session.state !== 'down';
    // Nothing is sent to a router that is not heard.
    const lost: BfdSession = { ...session, yours: 0, state: 'down', polling: false, sendAt: Infinity };
    return { session: fell ? { ...lost, diagnostic: DIAGNOSTIC.timeExpired } : lost, send: [] };
  }
  return now < session.sendAt ? { session, send: [] } : { session: scheduled(session, now, jitter), send: [packetOf(session)] };
}

/** When `elapsed` has something to do. */
export function dueAt(session: BfdSession): number {
  const forget = session.state === 'down' ? session.heardAt + FORGET_MS : Infinity;
  const lost = session.yours === 0 ? Infinity : session.heardAt + detectionMs(session);
  return Math.min(session.sendAt, lost, forget);
}

/** Tells the router that this gateway stops. */
export function farewell(session: BfdSession): readonly BfdPacket[] {
  if (session.yours === 0) return [];
  return [packetOf({ ...session, state: 'admin-down', diagnostic: DIAGNOSTIC.administrativelyDown, polling: false })];
}

/** Section 6.8.6. */
function nextState(own: BfdState, peer: BfdState): BfdState {
  if (peer === 'admin-down') return 'down';
  if (own === 'down') return peer === 'down' ? 'init' : peer === 'init' ? 'up' : 'down';
  if (own === 'init') return peer === 'down' ? 'init' : 'up';
  return peer === 'down' ? 'down' : own;
}

/** Until a router that is not heard is gone. */
function detectionMs({ peer }: BfdSession): number {
  return Math.max(HOLD_MS, peer.multiplier * Math.max(MIN_RX_MS, peer.minTx));
}

/** Sections 6.8.2 and 6.8.7: a quarter earlier at most, so that the packets of many are not sent at once. */
function scheduled(session: BfdSession, now: number, jitter: number): BfdSession {
  const { state, peer } = session;
  if (peer.minRx === 0) return { ...session, sendAt: Infinity };
  const interval = Math.max(state === 'up' ? MIN_TX_MS : SLOW_MS, peer.minRx);
  return { ...session, sendAt: now + interval * (1 - jitter / 4) };
}

function packetOf({ mine, yours, state, diagnostic, polling, peer }: BfdSession, final = false): BfdPacket {
  const minTx = state === 'up' ? MIN_TX_MS : SLOW_MS;
  // How many packets may be lost until a gateway is dead is the router's setting as well.
  const { multiplier } = peer;
  return { diagnostic, state, poll: polling && !final, final, multiplier, mine, yours, minTx, minRx: MIN_RX_MS };
}
