import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';

/** The result of looking at the first bytes of a file that is to be executed. */
export type ExecutableFile =
  | { readonly type: 'binary' }
  | { readonly type: 'script'; readonly interpreter: string }
  /** Present, yet its bytes cannot be read (execute permission only, or a failing path). */
  | { readonly type: 'unreadable' }
  | { readonly type: 'refused'; readonly reason: string };

/** Enough for the interpreter line (the kernel reads 256 bytes) and the program headers of usual ELF files. */
const HEAD_BYTES = 4096;

const ELF_MAGIC = 0x7f454c46;
/** Magic numbers of Mach-O files, thin and universal, as big-endian words. */
const MACH_O_MAGICS: ReadonlySet<number> = new Set([0xcffaedfe, 0xcefaedfe, 0xcafebabe]);

/**
 * Path of the executable that `file` names: itself when it holds a slash, otherwise the first regular file with an
 * execute bit in the directories of `pathVariable`; undefined when there is none.
 */
export function findExecutable(file: string, pathVariable: string): string | undefined {
  if (file.includes('/')) return file;
  for (const directory of pathVariable.split(path.delimiter)) {
    const candidate = path.join(directory === '' ? '.' : directory, file);
    if (isExecutable(candidate)) return candidate;
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    const stats = statSync(file);
    return stats.isFile() && (stats.mode & 0o111) !== 0;
  } catch {
    // A directory of PATH that is missing or closed to us holds nothing for us.
    return false;
  }
}

/**
 * Looks at the first bytes of a file as the kernel does. Spawn functions that fall back to a shell would run a file
 * without an interpreter line line by line, and an empty one "successfully".
 */
export function inspectExecutable(file: string): ExecutableFile {
  let fd: number;
  try {
    // Without O_NONBLOCK the opening of a FIFO would wait for a writer.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return { type: 'unreadable' };
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return { type: 'refused', reason: 'it is not a regular file' };
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    return classify(head.subarray(0, readSync(fd, head, 0, HEAD_BYTES, 0)), stats.size);
  } finally {
    closeSync(fd);
  }
}

function classify(head: Buffer, sizeBytes: number): ExecutableFile {
  if (sizeBytes === 0) return { type: 'refused', reason: 'it is empty' };
  if (head[0] === 0x23 && head[1] === 0x21) return classifyScript(head);
  const magic = head.length >= 4 ? head.readUInt32BE(0) : 0;
  if (MACH_O_MAGICS.has(magic)) return { type: 'binary' };
  if (magic !== ELF_MAGIC) {
    return {
      type: 'refused',
      reason: 'it is neither a script with an interpreter line (#!) nor an ELF program',
    };
  }
  return isElfComplete(head, sizeBytes)
    ? { type: 'binary' }
    : { type: 'refused', reason: 'it is an ELF program cut short; copy the file again' };
}

function classifyScript(head: Buffer): ExecutableFile {
  const line = head.subarray(2, 256).toString('latin1').split('\n', 1)[0] ?? '';
  const interpreter = line.replace(/^[ \t]+/, '').split(/[ \t]/, 1)[0] ?? '';
  if (interpreter === '')
    return { type: 'refused', reason: 'its interpreter line (#!) names no interpreter' };
  return { type: 'script', interpreter };
}

/** Whether the file holds every segment that its program headers promise. */
function isElfComplete(head: Buffer, sizeBytes: number): boolean {
  const is64 = head[4] === 2;
  if (head.length < (is64 ? 64 : 52)) return false;
  const bits16 = (at: number): number => (head[5] === 2 ? head.readUInt16BE(at) : head.readUInt16LE(at));
  const bits32 = (at: number): number => (head[5] === 2 ? head.readUInt32BE(at) : head.readUInt32LE(at));
  const word = (at: number): number => {
    if (!is64) return bits32(at);
    return Number(head[5] === 2 ? head.readBigUInt64BE(at) : head.readBigUInt64LE(at));
  };
  const tableAt = word(is64 ? 32 : 28);
  const entryBytes = bits16(is64 ? 54 : 42);
  const entryCount = bits16(is64 ? 56 : 44);
  const tableEnd = tableAt + entryBytes * entryCount;
  if (tableEnd > sizeBytes) return false;
  if (tableEnd > head.length || entryBytes < (is64 ? 56 : 32)) return true;
  for (let at = tableAt; at < tableEnd; at += entryBytes) {
    const offset = word(at + (is64 ? 8 : 4));
    const fileBytes = word(at + (is64 ? 32 : 16));
    if (offset + fileBytes > sizeBytes) return false;
  }
  return true;
}
