/** The path `/lab/faults`: sets, lists and removes faults. */
import type { IncomingMessage } from 'node:http';
import { readObject } from '../request.ts';
import type { Reply } from '../reply.ts';
import { ApiError } from '../status.ts';
import type { JsonObject } from '../json.ts';
import { readFaultRule } from './fault.ts';
import type { Faults, SetFault } from './faults.ts';

const PATH = /^\/lab\/faults(?:\/([^/]+))?$/;

/** A copy, since the fault counts on. */
function shown(fault: SetFault): JsonObject {
  return JSON.parse(JSON.stringify(fault)) as JsonObject;
}

/** @returns undefined for any other path. @throws ApiError */
export async function answerFaultRequest(faults: Faults, path: string, request: IncomingMessage): Promise<Reply | undefined> {
  const match = PATH.exec(path);
  if (match === null) return undefined;
  const id = match[1];
  const list = (): Reply => ({ status: 200, body: { items: faults.list().map(shown) } });
  switch (request.method) {
    case 'GET':
      return list();
    case 'POST':
      return { status: 201, body: shown(faults.add(readFaultRule(await readObject(request)))) };
    case 'DELETE':
      if (!faults.remove(id) && id !== undefined) throw new ApiError(404, 'NotFound', `there is no fault ${id}; see /lab/faults`);
      return list();
    default:
      throw new ApiError(405, 'MethodNotAllowed', 'GET, POST and DELETE are served here; see lab/apiserver/faults/README.md');
  }
}
