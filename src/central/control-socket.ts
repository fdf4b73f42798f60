/** Asks a program of OVN by its control socket, as `ovs-appctl` does: one request of JSON-RPC (ovs-appctl(8)). */
import { connect } from 'node:net';

const TIMEOUT_MS = 5_000;
const MOST_BYTES = 1024 * 1024;

/** @throws Error with the program's own message, or if it does not answer within 5 s */
export async function control(socket: string, method: string, ...params: readonly string[]): Promise<string> {
  return await new Promise((resolve, reject) => {
    let answer = '';
    const connection = connect(socket);
    const end = (work: () => void): void => {
      connection.destroy();
      work();
    };
    connection.setTimeout(TIMEOUT_MS, () => end(() => reject(new Error(`${socket} does not answer ${method}`))));
    connection.once('error', (error) => end(() => reject(error)));
    connection.once('close', () => reject(new Error(`${socket} closed the connection`)));
    connection.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (answer.length > MOST_BYTES) return end(() => reject(new Error(`${socket} answers with more than ${MOST_BYTES} bytes`)));
      let reply: { readonly result?: unknown; readonly error?: unknown };
      try {
        reply = JSON.parse(answer) as typeof reply;
      } catch {
        // The rest follows.
        return;
      }
      const { result, error } = reply;
      end(() => (typeof result === 'string' ? resolve(result) : reject(new Error(`${method}: ${String(error).trim()}`))));
    });
    connection.write(JSON.stringify({ method, params, id: 0 }));
  });
}
