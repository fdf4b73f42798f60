/** A message ends with what a person does next, unless it already names a command. */
export function withNext(message: string, command: string): string {
  return /\b(kubectl|kiln) [a-z]/.test(message) ? message : `${message}; ${command}`;
}
