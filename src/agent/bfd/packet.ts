/** Control packets of BFD: RFC 5880, section 4.1, without authentication. Pure. */

export const STATES = ['admin-down', 'down', 'init', 'up'] as const;
export type BfdState = (typeof STATES)[number];

/** RFC 5880, section 4.1: why a session went down. */
export const DIAGNOSTIC = { none: 0, timeExpired: 1, neighbourDown: 3, administrativelyDown: 7 } as const;

export interface BfdPacket {
  readonly diagnostic: number;
  readonly state: BfdState;
  /** It asks for an answer with `final`. */
  readonly poll: boolean;
  readonly final: boolean;
  readonly multiplier: number;
  /** Of the sender, not 0. */
  readonly mine: number;
  /** Of the receiver, as the sender knows it; 0: not at all. */
  readonly yours: number;
  /** Milliseconds between two packets that the sender would like to send. */
  readonly minTx: number;
  /** Milliseconds between two packets that the sender can receive; 0: it wants none. */
  readonly minRx: number;
}

const VERSION = 1;
const LENGTH = 24;
const BIT = { poll: 0x20, final: 0x10, authentication: 0x04, multipoint: 0x01 } as const;
const MICROSECONDS = 1_000;

export function encodePacket(packet: BfdPacket): Buffer {
  const bytes = Buffer.alloc(LENGTH);
  bytes.writeUInt8((VERSION << 5) | packet.diagnostic, 0);
  bytes.writeUInt8((STATES.indexOf(packet.state) << 6) | (packet.poll ? BIT.poll : 0) | (packet.final ? BIT.final : 0), 1);
  bytes.writeUInt8(packet.multiplier, 2);
  bytes.writeUInt8(LENGTH, 3);
  bytes.writeUInt32BE(packet.mine, 4);
  bytes.writeUInt32BE(packet.yours, 8);
  bytes.writeUInt32BE(packet.minTx * MICROSECONDS, 12);
  bytes.writeUInt32BE(packet.minRx * MICROSECONDS, 16);
  return bytes;
}

/** @returns undefined for what a receiver has to drop (section 6.8.6) */
export function decodePacket(bytes: Buffer): BfdPacket | undefined {
  if (bytes.length < LENGTH) return undefined;
  const [first, second, multiplier, length] = [bytes.readUInt8(0), bytes.readUInt8(1), bytes.readUInt8(2), bytes.readUInt8(3)];
  const [mine, yours] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)];
  const state = STATES[second >> 6] ?? 'down';
  const isWrong =
    first >> 5 !== VERSION ||
    length < LENGTH ||
    length > bytes.length ||
    multiplier === 0 ||
    (second & (BIT.authentication | BIT.multipoint)) !== 0 ||
    mine === 0 ||
    (yours === 0 && (state === 'init' || state === 'up'));
  if (isWrong) return undefined;
  return {
    diagnostic: first & 0x1f,
    state,
    poll: (second & BIT.poll) !== 0,
    final: (second & BIT.final) !== 0,
    multiplier,
    mine,
    yours,
    minTx: bytes.readUInt32BE(12) / MICROSECONDS,
    minRx: bytes.readUInt32BE(16) / MICROSECONDS,
  };
}
