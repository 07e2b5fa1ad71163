import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { McpSession } from './mcp-session.ts';

/** Requests in progress at a time; further lines wait in the pipe. */
const AT_ONCE = 16;

/**
 * Serves one client: each line of the input is a message, each line of the output a response, in the
 * order in which they are ready. Resolves at the end of the input, when the last response is written.
 */
export async function serveMcp(
  session: Pick<McpSession, 'handle'>,
  { input, write }: { readonly input: Readable; readonly write: (line: string) => void },
  signal: AbortSignal,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const respond = async (line: string): Promise<void> => {
    const response = await session.handle(line, signal);
    if (response !== undefined) write(`${response}\n`);
  };
  try {
    for await (const line of createInterface({ input, signal, crlfDelay: Infinity })) {
      if (line.trim() === '') continue;
      const run: Promise<void> = respond(line).finally(() => running.delete(run));
      running.add(run);
      if (running.size >= AT_ONCE) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
}
