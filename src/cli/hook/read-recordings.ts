import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { messageOf } from '@addon-operator/base/errors';
import { lineDiff } from '../../plan/line-diff.ts';
import { findRecordings, type Recording, readRecording } from '../../recordings/hook-recordings.ts';
import { diffLine } from '../operator/plan-text.ts';
import { paintFor } from '../output/paint.ts';
import type { ReplayReport } from './replay-text.ts';

export interface RecordingFile {
  /** Relative to the working directory. */
  readonly file: string;
  readonly recording: Recording;
}

/**
 * Reads recordings, and reports files that are none.
 *
 * @param paths files, and directories of them
 * @throws OperatorError CONFIG_INVALID for a path without recordings
 */
export async function readRecordings(
  paths: readonly string[],
  cwd: string,
  report: Pick<ReplayReport, 'unusable'>,
): Promise<readonly RecordingFile[]> {
  const recordings: RecordingFile[] = [];
  for (const path of paths)
    for (const found of await findRecordings(resolve(cwd, path))) {
      const file = relative(cwd, found);
      try {
        recordings.push({ file, recording: readRecording(file, await readFile(found, 'utf8')) });
      } catch (error) {
        report.unusable(file, messageOf(error));
      }
    }
  return recordings;
}

/** The differing lines of two texts, without colours. */
export function plainDiff(before: string, after: string): readonly string[] {
  return lineDiff(before, after).map((line) => diffLine(line, paintFor(false)));
}
