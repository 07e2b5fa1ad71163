import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';

/** A place in a stack trace: `/app/dist/chunks/daemon-abc.js:12:34`, with or without `file://`. */
const PLACE = /(?:file:\/\/)?(\/[^\s():]+\.js):(\d+):(\d+)/g;

const maps = new Map<string, SourceMap | undefined>();

/**
 * A stack trace of built code as that of its sources. Node could do so itself (`--enable-source-maps`), but reads the maps
 * of all files at start for it, 30 MB; here one is read when the first trace leads into its file.
 *
 * @param directory below which files are ours; what lies elsewhere stays as it is, as does a file without a map. Undefined where
 *   nothing is built
 */
export function sourcePlaces(stack: string, directory: string | undefined): string {
  if (directory === undefined) return stack;
  return stack.replaceAll(PLACE, (place: string, file: string, line: string, column: string) =>
    file.startsWith(directory) ? (originOf(file, Number(line), Number(column)) ?? place) : place,
  );
}

/** The place in the source, by the source map of the file; read once per file. */
function originOf(file: string, line: number, column: number): string | undefined {
  if (!maps.has(file)) maps.set(file, readMap(file));
  const origin = maps.get(file)?.findOrigin(line, column);
  if (origin === undefined || !('fileName' in origin)) return undefined;
  return `${path.resolve(path.dirname(file), origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
}

/** Nothing where there is none that can be read: a trace is not worth an error of its own. */
function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}
