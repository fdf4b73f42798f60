/** Appends a next command to a message, unless it already names one. Quoted text, which users wrote, does not count. */
export function withNext(message: string, command: string): string {
  return /\b(kubectl|kiln) [a-z]/.test(message.replaceAll(/"[^"]*"/g, '')) ? message : `${message}; ${command}`;
}
