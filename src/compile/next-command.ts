/** A message ends with what a person does next, unless it already names a command; what somebody wrote into an object is none. */
export function withNext(message: string, command: string): string {
  return /\b(kubectl|kiln) [a-z]/.test(message.replaceAll(/"[^"]*"/g, '')) ? message : `${message}; ${command}`;
}
