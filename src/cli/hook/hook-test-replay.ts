import { recordingsOf } from '../../devkit/replayed-hook.ts';
import { type Hook, moduleNameOf } from '../../hooks/hook.ts';
import { type ReplayedHook, replayOne } from '../../recordings/hook-recordings.ts';
import { paintFor } from '../output/paint.ts';
import { plainDiff, readRecordings } from './read-recordings.ts';
import { ReplayReport } from './replay-text.ts';

/**
 * Replays the recordings of one hook, as `hook replay` does.
 *
 * @param path a recording, or a directory of them, absolute
 * @returns what is not as it was recorded, as `hook replay` shows it; undefined if all runs came to the same
 * @throws OperatorError CONFIG_INVALID when there are no recordings of the hook
 */
export async function replayIn(
  path: string,
  cwd: string,
  hook: Hook,
  replayed: ReplayedHook,
): Promise<string | undefined> {
  let text = '';
  const report = new ReplayReport(paintFor(false), (more) => {
    text += more;
  });
  const recordings = await readRecordings([path], cwd, report);
  const own = recordingsOf(recordings, { name: hook.name, module: moduleNameOf(hook) }, 'replay');
  for (const { file, recording } of own)
    report.add({ file, ...(await replayOne(recording, replayed, plainDiff)) });
  report.end();
  return report.exitCode === 0 ? undefined : text.trimEnd();
}
