import { existsSync, openSync, renameSync, writeSync } from 'node:fs';
import type { LogOutput } from './json-logger.ts';

/**
 * A new log file, readable by its owner only, begun with the first record. The one that was there is kept beside it
 * with `.1` behind its name. Records are written at once, so that a killed process leaves a whole log; those that find
 * a full disk are lost.
 */
export function fileLogOutput(path: string): LogOutput {
  let file: number | undefined;
  return {
    write(line) {
      try {
        file ??= openNew(path);
        writeSync(file, line);
      } catch {
        // The daemon lives on without its log.
      }
    },
  };
}

function openNew(path: string): number {
  if (existsSync(path)) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}
