/** Called for each key that enters or leaves a set of keys. */
export interface Watcher {
  readonly enter: (key: string) => void;
  readonly leave: (key: string) => void;
}
