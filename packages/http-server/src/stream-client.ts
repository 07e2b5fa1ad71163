import { request } from 'node:http';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, parseJson, stringOf } from '@addon-operator/json';
import { EventStreamParser } from './event-stream.ts';

/** One server-sent event. */
export interface ReceivedEvent {
  readonly event: string;
  readonly data: unknown;
}

export interface StreamRequest {
  readonly socketPath: string;
  /** Path and query. */
  readonly path: string;
  /** Id of the last event of an earlier connection, to resume after it. */
  readonly lastEventId?: string | undefined;
}

/**
 * Passes on the events of a stream until the operator ends it, or the signal aborts. Returns the id of the last event.
 *
 * @throws OperatorError DEBUG_SOCKET without a connection, REQUEST_REFUSED for a refusal
 */
export async function followStream(
  { socketPath, path, lastEventId }: StreamRequest,
  signal: AbortSignal,
  onEvent: (event: ReceivedEvent) => void,
): Promise<string | undefined> {
  let lastId = lastEventId;
  const headers = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
  const outgoing = request({ socketPath, path, agent: false, headers });
  const stop = (): void => void outgoing.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const { promise, resolve, reject } = Promise.withResolvers<AsyncIterable<Buffer>>();
    outgoing.on('response', (response) => {
      if (response.statusCode === 200) resolve(response);
      else void refusalOf(response).then(reject, reject);
    });
    outgoing.on('error', reject);
    outgoing.end();
    const parser = new EventStreamParser();
    const decoder = new TextDecoder();
    for await (const chunk of await promise) {
      for (const { id, event, data } of parser.push(decoder.decode(chunk, { stream: true }))) {
        if (signal.aborted) break;
        if (id !== '') lastId = id;
        onEvent({ event, data: parseJson(data) });
      }
    }
  } catch (error) {
    if (signal.aborted) return lastId;
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(
      'DEBUG_SOCKET',
      `cannot follow the operator on '${socketPath}': ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    signal.removeEventListener('abort', stop);
    outgoing.destroy();
  }
  return lastId;
}

/** The refusal in the body of a response, which is JSON with an `error`. */
async function refusalOf(response: AsyncIterable<Buffer>): Promise<OperatorError> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const { error } = fieldsOf(parseJson(Buffer.concat(chunks).toString('utf8')));
  return new OperatorError('REQUEST_REFUSED', stringOf(fieldsOf(error)['message']));
}
