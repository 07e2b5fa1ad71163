/**
 * Serializes binding contexts, bounded in size and without blocking the event loop. `hook-runs/hook-inputs.ts` calls
 * `writeContexts`. A short document is returned as a string, a long one as a stream that is produced while it is read.
 * Contexts beyond the limits are not written; `covered` says how many reasons were, and the others wait for the next run.
 */

import { setImmediate } from 'node:timers/promises';
import { stringifyJson } from '@addon-operator/json';

/** One element of the binding context file. */
export type BindingContext = Readonly<Record<string, unknown>>;

/** One binding context of a run, and how many of the reasons of the run are covered up to it. */
export interface NumberedContext {
  readonly context: BindingContext;
  readonly covered: number;
}

export interface ContextLimits {
  /** Contexts that do not fit go into the next run; the first context is always part of the document. */
  readonly maxBytes: number;
  readonly maxContexts: number;
}

/** The binding contexts of one run as JSON: a string where it is short, else its bytes, made while they are read. */
export type ContextDocument = string | AsyncIterable<Buffer>;

export interface WrittenContexts {
  readonly document: ContextDocument;
  /** How many reasons are covered; final when the document was read to its end. */
  readonly covered: () => number;
}

/** A document is passed on as a string up to this size. */
const SHORT_BYTES = 256 * 1024;
/** Pieces are written from this size on. */
const PIECE_BYTES = 64 * 1024;
/** The brackets around the contexts of a document. */
const BRACKET_BYTES = '[]'.length;
/** So much JSON is made in one turn of the event loop. */
const BYTES_A_TURN = 512 * 1024;

/**
 * Writes the contexts of a run as the text `JSON.stringify` would make of the list. A snapshot that several contexts hold is
 * serialized once. Hundreds of large contexts are longer than a string may be, and would block the event loop for seconds.
 */
export async function writeContexts(
  contexts: Iterable<NumberedContext>,
  limits: ContextLimits,
): Promise<WrittenContexts> {
  const document = new ContextWriter(contexts, limits);
  const covered = (): number => document.covered;
  const pieces = document.pieces();
  const start: Buffer[] = [];
  let bytes = 0;
  while (bytes <= SHORT_BYTES) {
    const { done, value } = await pieces.next();
    if (done === true) return { document: Buffer.concat(start).toString('utf8'), covered };
    start.push(value);
    bytes += value.length;
  }
  return { document: followedBy(start, pieces), covered };
}

/** The whole document as one string, for hooks that are not given files. */
export async function contextText(document: ContextDocument): Promise<string> {
  if (typeof document === 'string') return document;
  const pieces: Buffer[] = [];
  for await (const piece of document) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/** The pieces that were read to find out the length, then the rest. */
async function* followedBy(
  start: readonly Buffer[],
  rest: AsyncGenerator<Buffer, void>,
): AsyncGenerator<Buffer, void> {
  yield* start;
  yield* rest;
}

/** Writes a list of contexts piece by piece, within the limits. Read once. */
class ContextWriter {
  readonly #contexts: Iterable<NumberedContext>;
  readonly #limits: ContextLimits;
  readonly #snapshots: SnapshotTexts;
  covered = 0;
  #bytes = BRACKET_BYTES;
  #bytesThisTurn = 0;

  constructor(contexts: Iterable<NumberedContext>, limits: ContextLimits) {
    this.#contexts = contexts;
    this.#limits = limits;
    // A larger one fits into a run only once.
    this.#snapshots = new SnapshotTexts(limits.maxBytes / 2);
  }

  /** Pieces of a useful size, with a pause between two turns' worth of them. */
  async *pieces(): AsyncGenerator<Buffer, void> {
    let waiting: Buffer[] = [];
    let waitingBytes = 0;
    for await (const piece of this.#parts()) {
      waiting.push(piece);
      waitingBytes += piece.length;
      if (waitingBytes < PIECE_BYTES) continue;
      yield waiting.length === 1 ? piece : Buffer.concat(waiting);
      waiting = [];
      waitingBytes = 0;
    }
    yield Buffer.concat(waiting);
  }

  async *#parts(): AsyncGenerator<Buffer, void> {
    let count = 0;
    for (const { context, covered } of this.#contexts) {
      if (count >= this.#limits.maxContexts) break;
      const parts = contextParts(context, this.#snapshots);
      if (count === 0) yield* this.#whole(Buffer.from('['), parts);
      else {
        const fitting = await this.#ifFitting(Buffer.from(','), parts);
        if (fitting === undefined) break;
        yield* fitting;
      }
      count += 1;
      this.covered = covered;
    }
    yield Buffer.from(count === 0 ? '[]' : ']');
  }

  /** The first context is written regardless of its size: otherwise a large one would never reach the hook. */
  async *#whole(before: Buffer, parts: Iterable<Buffer>): AsyncGenerator<Buffer, void> {
    yield before;
    for (const part of parts) {
      await this.#note(part);
      this.#bytes += part.length;
      yield part;
    }
  }

  /** Collects a further context; undefined if it exceeds the limit, and then nothing of it is written. */
  async #ifFitting(before: Buffer, parts: Iterable<Buffer>): Promise<readonly Buffer[] | undefined> {
    const fitting = [before];
    let bytes = this.#bytes + before.length;
    for (const part of parts) {
      await this.#note(part);
      bytes += part.length;
      if (bytes > this.#limits.maxBytes) return undefined;
      fitting.push(part);
    }
    this.#bytes = bytes;
    return fitting;
  }

  /** Gives way to other work after each half MiB. */
  async #note({ length }: Buffer): Promise<void> {
    this.#bytesThisTurn += length;
    if (this.#bytesThisTurn < BYTES_A_TURN) return;
    this.#bytesThisTurn = 0;
    await setImmediate();
  }
}

/** JSON of snapshots, kept for the contexts behind the first one unless it is too large for a second time. */
class SnapshotTexts {
  readonly #maxBytes: number;
  readonly #known = new Map<readonly unknown[], readonly Buffer[]>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *of(snapshot: readonly unknown[]): Generator<Buffer, void> {
    const known = this.#known.get(snapshot);
    if (known !== undefined) {
      yield* known;
      return;
    }
    const made: Buffer[] = [];
    let bytes = 0;
    for (const part of listParts(snapshot)) {
      bytes += part.length;
      if (bytes <= this.#maxBytes) made.push(part);
      else made.length = 0;
      yield part;
    }
    if (bytes <= this.#maxBytes) this.#known.set(snapshot, made);
  }
}

function* listParts(items: readonly unknown[]): Generator<Buffer, void> {
  let text = '[';
  for (const [index, item] of items.entries()) {
    text += `${index === 0 ? '' : ','}${stringifyJson(item)}`;
    if (text.length < PIECE_BYTES) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(`${text}]`);
}

function* contextParts(context: BindingContext, snapshots: SnapshotTexts): Generator<Buffer, void> {
  let text = '{';
  const name = (key: string): string => `${text === '{' ? '{' : `${text},`}${JSON.stringify(key)}:`;
  for (const [key, value] of Object.entries(context)) {
    if (value === undefined) continue;
    text = name(key);
    if (key === 'objects' && Array.isArray(value)) {
      yield Buffer.from(text);
      yield* snapshots.of(value);
      text = '';
    } else if (key === 'snapshots') {
      text += '{';
      for (const [index, [binding, items]] of Object.entries(value as object).entries()) {
        yield Buffer.from(`${text}${index === 0 ? '' : ','}${JSON.stringify(binding)}:`);
        yield* snapshots.of(items as readonly unknown[]);
        text = '';
      }
      text += '}';
    } else text += stringifyJson(value);
  }
  yield Buffer.from(`${text}}`);
}
