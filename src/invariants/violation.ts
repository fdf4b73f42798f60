export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I10';

/** A violated invariant, with a message. */
export interface Violation {
  readonly invariant: Invariant;
  /** `Subnet web`, `Logical_Switch_Port web-0.shop`. */
  readonly subject: string;
  readonly message: string;
}
