const NEWLINE = 0x0a;

/** The stream ended in the middle of a line. */
export class TruncatedLineError extends Error {}

/**
 * Splits a stream of bytes into lines, without their newlines; empty lines are left out. Bytes are decoded line by
 * line, so a character cut by a chunk border stays whole.
 *
 * @throws TruncatedLineError when the stream ends within a line; that piece is never delivered
 * @throws TypeError for bytes that are no UTF-8
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let pieces: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pieces.push(chunk.subarray(start, end));
      const line = decoder.decode(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
      pieces = [];
      start = end + 1;
      if (line.trim() !== '') yield line;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
  if (pieces.length > 0) throw new TruncatedLineError('the stream ended within a line');
}
