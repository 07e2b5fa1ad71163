import type { Logger } from '@addon-operator/base/log';
import { LineSplitter } from '@addon-operator/process/line-splitter';
import type { WorkEvents } from '@addon-operator/script-threads/script-worker';
import { createHookOutputLog, type HookOutputLog } from '../hook-output-log.ts';

/** Where to what a script prints goes; `end` is to be called when its work has ended. */
interface ScriptOutput {
  readonly push: WorkEvents['onOutput'];
  readonly end: () => void;
}

interface OpenOutput {
  readonly output: HookOutputLog;
  readonly stdout: LineSplitter;
  readonly stderr: LineSplitter;
}

/** Cuts what a script prints into lines for its log. Most print nothing, and cost nothing here. */
export function outputTo(log: Logger): ScriptOutput {
  let open: OpenOutput | undefined;
  return {
    push: ({ stream, text }) => {
      open ??= openOutput(log);
      open[stream].push(Buffer.from(text));
    },
    end: () => {
      open?.stdout.end();
      open?.stderr.end();
      open?.output.end();
    },
  };
}

function openOutput(log: Logger): OpenOutput {
  const output = createHookOutputLog(log);
  return {
    output,
    stdout: new LineSplitter((line) => output.line('stdout', line)),
    stderr: new LineSplitter((line) => output.line('stderr', line)),
  };
}
