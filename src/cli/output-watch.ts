/** Notices when who reads the output of this process has gone (`npm start | head`): without a listener that would end it on the spot. */
export function watchOutput(gone: () => void): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', gone);
}
