export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I10';

/** One thing that is not as it must be, with a sentence for a person. */
export interface Violation {
  readonly invariant: Invariant;
  /** `Subnet web`, `Logical_Switch_Port web-0.shop`. */
  readonly subject: string;
  readonly message: string;
}
