import type { Logger } from '../../lib/log.ts';
import { LineSplitter } from '../../process/line-splitter.ts';
import { createHookOutputLog, type HookOutputLog } from '../hook-output-log.ts';
import type { WorkEvents } from './script-worker.ts';

/** Where to what a script prints goes; `end` is to be called when its work has ended. */
export interface ScriptOutput {
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
