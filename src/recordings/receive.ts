/**
 * The client of the recorder: `hook record` reads runs from the debug socket, one JSON document a line. A connection that
 * ends without a request to stop is an error, so that a restart of the operator is noticed.
 */

import { request } from 'node:http';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { isObject, parseJson } from '@addon-operator/json';
import { type Recording, readRecording } from './recording.ts';

export interface RecordRequest {
  readonly socketPath: string;
  readonly path: string;
  /** Names of hooks; empty: all. */
  readonly hooks: readonly string[];
  readonly hasSecrets: boolean;
  /** The runs that failed and were kept, in place of those that come. Default: no. */
  readonly isFailed?: boolean;
}

export type ReceivedLine =
  /** From now on runs are recorded. */
  | { readonly type: 'ready' }
  | { readonly type: 'recording'; readonly recording: Recording }
  | { readonly type: 'skipped'; readonly reason: string };

/**
 * The runs that an operator records, until the signal aborts, or those that failed and were kept.
 *
 * @throws OperatorError REQUEST_REFUSED for a refusal, DEBUG_SOCKET without an operator, and when it ends
 */
export async function* receiveRecordings(
  { socketPath, path, hooks, hasSecrets, isFailed = false }: RecordRequest,
  signal: AbortSignal,
): AsyncGenerator<ReceivedLine, void> {
  const form = new URLSearchParams(hooks.map((hook): [string, string] => ['hook', hook]));
  if (hasSecrets) form.set('secrets', 'true');
  if (isFailed) form.set('failed', 'true');
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const outgoing = request({ socketPath, path, method: 'POST', agent: false, headers });
  const stop = (): void => void outgoing.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<AsyncIterable<Buffer>>();
    outgoing.on('response', (response) => {
      if (response.statusCode === 200) resolve(response);
      else void refusalOf(response).then(reject, reject);
    });
    outgoing.on('error', reject);
    outgoing.end(form.toString());
    yield* lines(await promise);
    if (isFailed) return;
    throw new OperatorError('DEBUG_SOCKET', `the operator on '${socketPath}' has ended, or was restarted`);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof OperatorError) throw error;
    throw new OperatorError('DEBUG_SOCKET', `cannot record runs on '${socketPath}': ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    signal.removeEventListener('abort', stop);
    outgoing.destroy();
  }
}

/** Splits chunks into lines; a chunk may end within one. */
async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<ReceivedLine, void> {
  // A character may be split between two chunks.
  const decoder = new TextDecoder();
  let parts: string[] = [];
  for await (const chunk of chunks) {
    const [first = '', ...rest] = decoder.decode(chunk, { stream: true }).split('\n');
    parts.push(first);
    for (const next of rest) {
      const line = parts.join('');
      parts = [next];
      if (line !== '') yield lineOf(line);
    }
  }
}

function lineOf(text: string): ReceivedLine {
  const line = parseJson(text);
  if (!isObject(line)) throw new OperatorError('DEBUG_SOCKET', 'the operator sent no recording');
  const { recording, skipped } = line;
  if (typeof skipped === 'string') return { type: 'skipped', reason: skipped };
  if (recording === undefined) return { type: 'ready' };
  return {
    type: 'recording',
    recording: readRecording('the recording of the operator', JSON.stringify(recording)),
  };
}

/** The message of a refusal, as an error for the command. */
async function refusalOf(response: AsyncIterable<Buffer>): Promise<OperatorError> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return new OperatorError('REQUEST_REFUSED', Buffer.concat(chunks).toString('utf8').trim());
}
