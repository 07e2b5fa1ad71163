/**
 * The file in which the journal survives a restart: one record a line, each with a checksum. A crash can only damage what
 * was written last, so reading stops at the first line that is damaged, and everything before it is a prefix of what was
 * recorded. Two files of bounded size take turns: a full `runs` becomes `runs.old`. Nothing here ever fails a run: a file
 * that cannot be used is a warning, and the journal stays in memory.
 *
 * Lines are written without fsync. That survives the end of the process, however it ends; after a loss of power the last
 * lines may be missing, which costs less than a flush to disk for each run.
 */

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { errorText } from '@addon-operator/base/error-text';
import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { writableByOthers } from '@addon-operator/files/directory-safety';

/** Anything that JSON can represent. */
export type JournalRecord = object;

export interface JournalFileOptions {
  readonly directory: string;
  readonly log: Pick<Logger, 'warn'>;
  /** Size from which a file is full; default 4 MiB. Two of them are kept. */
  readonly maxBytes?: number;
}

/** Another version writes another first line; its files are replaced. */
const FIRST_LINE = { journal: 1 };
const MAX_BYTES = 4 * 1024 * 1024;
/** A disk that takes fewer records than begin would fill the memory. */
const MAX_PENDING = 10_000;
const LINE_END = 0x0a;
const CHECKSUM_DIGITS = 8;
const READ_AND_WRITE = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

/** A file that is open for writing, with what was in it and its predecessor. */
export class JournalFile implements AsyncDisposable {
  readonly #directory: string;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #maxBytes: number;
  #handle: FileHandle | undefined;
  /** False if the file cannot be used, or is closed. */
  #isUsed = false;
  #bytes = 0;
  #pending: JournalRecord[] = [];
  #writing: Promise<void> | undefined;
  #records: readonly JournalRecord[] = [];

  private constructor({ directory, log, maxBytes = MAX_BYTES }: JournalFileOptions) {
    this.#directory = directory;
    this.#log = log;
    this.#maxBytes = maxBytes;
  }

  /** Opens the file, and creates its directory. Never fails: what prevents it is logged as a warning. */
  static async open(options: JournalFileOptions): Promise<JournalFile> {
    const file = new JournalFile(options);
    try {
      await file.#open();
    } catch (error) {
      await file.#fail('the journal of runs is only in memory: its file cannot be used', error);
    }
    return file;
  }

  /** Returns what was written before this start, the oldest first, and forgets it. */
  take(): readonly JournalRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  /** What each new file begins with, because the records before are gone some day; default nothing. */
  preamble: () => readonly JournalRecord[] = () => [];

  /** Writes a record soon, together with others of the same time. */
  append(record: JournalRecord): void {
    if (!this.#isUsed) return;
    this.#pending.push(record);
    this.#writing ??= this.#write();
  }

  /** Writes what is pending, and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    this.#isUsed = false;
    await this.#handle?.close();
  }

  async #open(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const problem = writableByOthers(this.#directory);
    if (problem !== undefined) throw new OperatorError('CONFIG_INVALID', `${this.#directory}: ${problem}`);
    const { records: older } = await this.#read('runs.old').catch(() => ({ records: [] }));
    const handle = await openOwn(this.#path('runs'));
    this.#handle = handle;
    const content = await handle.readFile();
    const { records, bytes, damage } = parsed(content);
    if (damage !== undefined) {
      // Without its damaged end: a line that follows it would not be found again.
      await handle.truncate(bytes);
      const lost = content.length - bytes;
      this.#log.warn({ directory: this.#directory, damage, lost }, 'the end of the journal of runs is lost');
    }
    this.#isUsed = true;
    this.#bytes = bytes;
    this.#records = [...older, ...records];
    if (bytes === 0) this.append(FIRST_LINE);
  }

  async #read(name: string): Promise<ReturnType<typeof parsed>> {
    await using handle = await openOwn(this.#path(name), constants.O_RDONLY | constants.O_NOFOLLOW);
    return parsed(await handle.readFile());
  }

  async #write(): Promise<void> {
    try {
      while (this.#pending.length > 0) {
        // Queues continue first, and add what ends at the same time.
        await setImmediate();
        if (this.#pending.length > MAX_PENDING)
          throw new OperatorError('INTERNAL', 'the disk is slower than the runs');
        const lines = this.#linesThatFit();
        if (lines.length === 0) await this.#rotate();
        await this.#handle?.writeFile(lines);
      }
    } catch (error) {
      await this.#fail('the journal of runs is only in memory from now on', error);
    }
    this.#writing = undefined;
  }

  /** Takes pending records, as many as the file has room for: none if it is full. */
  #linesThatFit(): Buffer {
    const lines: Buffer[] = [];
    for (const record of this.#pending) {
      const line = Buffer.from(lineOf(record));
      // A record that no file had room for would be waited for without end.
      if (this.#bytes + line.length > this.#maxBytes && this.#bytes > this.#maxBytes / 2) break;
      this.#bytes += line.length;
      lines.push(line);
    }
    this.#pending.splice(0, lines.length);
    return Buffer.concat(lines);
  }

  async #rotate(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    await rename(this.#path('runs'), this.#path('runs.old'));
    this.#handle = await openOwn(this.#path('runs'));
    this.#bytes = 0;
    this.#pending.unshift(FIRST_LINE, ...this.preamble());
  }

  async #fail(message: string, cause: unknown): Promise<void> {
    this.#isUsed = false;
    this.#pending = [];
    await this.#handle?.close().catch(() => undefined);
    this.#handle = undefined;
    this.#log.warn({ directory: this.#directory, error: errorText(cause) }, message);
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

/** @throws OperatorError for what is no file of this user */
async function openOwn(path: string, flags = READ_AND_WRITE): Promise<FileHandle> {
  const handle = await open(path, flags, 0o600);
  const stats = await handle.stat();
  if (stats.isFile() && stats.uid === process.getuid?.()) return handle;
  await handle.close();
  throw new OperatorError('CONFIG_INVALID', `${path} is not a file of this user`);
}

function lineOf(record: JournalRecord): string {
  const json = JSON.stringify(record);
  return `${checksumOf(json)} ${json}\n`;
}

function checksumOf(json: string | Buffer): string {
  return crc32(json).toString(16).padStart(CHECKSUM_DIGITS, '0');
}

/** The records up to the first damaged line, without the first line, and how many bytes they need. */
function parsed(content: Buffer): {
  readonly records: readonly JournalRecord[];
  readonly bytes: number;
  readonly damage: string | undefined;
} {
  const records: JournalRecord[] = [];
  let bytes = 0;
  while (bytes < content.length) {
    const end = content.indexOf(LINE_END, bytes);
    if (end < 0) return { records, bytes, damage: 'the last line is not complete' };
    const json = content.subarray(bytes + CHECKSUM_DIGITS + 1, end);
    if (content.toString('latin1', bytes, bytes + CHECKSUM_DIGITS) !== checksumOf(json))
      return { records, bytes, damage: 'a checksum is wrong' };
    const text = json.toString();
    if (bytes > 0) records.push(JSON.parse(text) as JournalRecord);
    else if (text !== JSON.stringify(FIRST_LINE))
      return { records, bytes, damage: 'it is of another version' };
    bytes = end + 1;
  }
  return { records, bytes, damage: undefined };
}
