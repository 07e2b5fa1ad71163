/** Longest piece of a line, in bytes. */
const MAX_PIECE_BYTES = 64 * 1024;
const LF = 0x0a;
const CR = 0x0d;
/** Marks both sides of a cut. The masking of secrets recognizes by it a secret that was cut in two. */
const CUT = '…';

/**
 * Cuts a stream of UTF-8 bytes into lines, across chunk borders. Line ends (LF or CR LF) are dropped, a line longer
 * than 64 KiB comes in pieces with `…` at the cuts, invalid bytes become U+FFFD, everything else (NUL too) stays as it is.
 * Pushed chunks may be overwritten after the call.
 */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  /** The line that has begun; its buffer grows when needed and is used again. */
  #rest = Buffer.alloc(0);
  #restBytes = 0;
  /** Whether a piece of the line that has begun was passed on before. */
  #isContinued = false;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += MAX_PIECE_BYTES) {
      this.#pushPart(chunk.subarray(at, at + MAX_PIECE_BYTES));
    }
  }

  /** Passes on the rest after the last line end. */
  end(isCut = false): void {
    if (this.#restBytes > 0) this.#onLine(this.#takeRest(this.#restBytes) + (isCut ? CUT : ''));
  }

  #pushPart(part: Buffer): void {
    const firstEnd = part.indexOf(LF);
    if (firstEnd === -1) return this.#hold(part);
    this.#hold(part.subarray(0, firstEnd));
    this.#endLine();
    const lastEnd = part.lastIndexOf(LF);
    if (lastEnd > firstEnd) {
      // All lines between are decoded at once: a call a line would cost more than the rest together.
      const lines = part.toString('utf8', firstEnd + 1, lastEnd).split('\n');
      for (const line of lines) this.#onLine(withoutCr(line));
    }
    this.#hold(part.subarray(lastEnd + 1));
  }

  /** Adds bytes to the line that has begun, and passes on a piece when it becomes too long. */
  #hold(bytes: Buffer): void {
    let offset = 0;
    while (offset < bytes.length) {
      // A CR may be the end of the line, which is then a whole one.
      const mayEnd = this.#restBytes === MAX_PIECE_BYTES && bytes[offset] === CR;
      if (this.#restBytes >= MAX_PIECE_BYTES && !mayEnd) this.#handOverPiece();
      const count = mayEnd ? 1 : Math.min(MAX_PIECE_BYTES - this.#restBytes, bytes.length - offset);
      this.#makeRoom(count);
      bytes.copy(this.#rest, this.#restBytes, offset, offset + count);
      this.#restBytes += count;
      offset += count;
    }
  }

  #endLine(): void {
    this.#onLine(withoutCr(this.#takeRest(this.#restBytes)));
    this.#isContinued = false;
  }

  #handOverPiece(): void {
    const whole = endOfWholeCharacters(this.#rest.subarray(0, this.#restBytes));
    this.#onLine(this.#takeRest(whole) + CUT);
    this.#isContinued = true;
  }

  /** Takes the first bytes of the rest as a string; the buffer is reused. */
  #takeRest(countBytes: number): string {
    const text = (this.#isContinued ? CUT : '') + this.#rest.toString('utf8', 0, countBytes);
    this.#rest.copyWithin(0, countBytes, this.#restBytes);
    this.#restBytes -= countBytes;
    return text;
  }

  /** Doubles the buffer, up to the longest piece. */
  #makeRoom(addedBytes: number): void {
    const neededBytes = this.#restBytes + addedBytes;
    if (neededBytes <= this.#rest.length) return;
    const grown = Buffer.allocUnsafe(Math.max(neededBytes, Math.min(MAX_PIECE_BYTES, 2 * neededBytes)));
    this.#rest.copy(grown, 0, 0, this.#restBytes);
    this.#rest = grown;
  }
}

function withoutCr(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Where to cut so that the last character, of up to four bytes, is not torn. */
function endOfWholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return size > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}
