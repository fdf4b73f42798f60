import { connect } from 'node:net';

const ANSWER_MS = 2_000;

/** Whether a process listens at a socket. One that a killed process left refuses. */
export async function isServed(socket: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const connection = connect(socket);
    const end = (answer: boolean): void => {
      connection.destroy();
      resolve(answer);
    };
    connection.setTimeout(ANSWER_MS, () => end(true));
    connection.once('connect', () => end(true));
    connection.once('error', () => end(false));
  });
}
