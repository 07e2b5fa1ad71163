/** The table of runs, used by several pages. */

import type { VNode } from 'preact';
import type { RunView } from '../lib/responses.ts';
import { durationText } from '../lib/time-text.ts';
import { pathToModule, pathToRun, titleOf } from './names.ts';
import { Badge, kindOf, RUN_KINDS } from './sign.tsx';
import { Link, Time } from './text.tsx';

/** Runs as a table, the newest first. */
export function RunsTable({
  runs,
  caption,
  isModuleShown = true,
}: {
  runs: readonly RunView[];
  caption: string;
  isModuleShown?: boolean;
}): VNode {
  return (
    <table class="list">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Result</th>
          <th scope="col">Run</th>
          {isModuleShown && (
            <th scope="col" class="wide">
              Module
            </th>
          )}
          <th scope="col" class="wide">
            Queue
          </th>
          <th scope="col" class="number wide">
            Took
          </th>
          <th scope="col" class="number wide">
            When
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run, index) => (
          <RunRow
            key={run.id}
            run={run}
            isModuleShown={isModuleShown}
            isFirstEarlier={run.isOfEarlierStart && runs[index - 1]?.isOfEarlierStart === false}
            isSameError={runs.slice(0, index).some((newer) => isSameFailure(newer, run))}
          />
        ))}
      </tbody>
    </table>
  );
}

/** One task that fails again and again fills a list; its error is read once. */
function isSameFailure(one: RunView, other: RunView): boolean {
  return one.error === other.error && one.taskId === other.taskId && one.hook === other.hook;
}

/** One run; a repeated error is replaced by a short note. */
function RunRow({
  run,
  isModuleShown,
  isFirstEarlier,
  isSameError,
}: {
  run: RunView;
  isModuleShown: boolean;
  /** The runs above are of the current start of the operator. */
  isFirstEarlier: boolean;
  isSameError: boolean;
}): VNode {
  return (
    <tr>
      <td>
        <Badge kind={kindOf(RUN_KINDS, run.result)} />
      </td>
      <td class="main">
        <Link to={pathToRun(run)} title={run.type}>
          {titleOf(run)}
        </Link>
        {isFirstEarlier && <p class="dim small-text">the operator was started after this run</p>}
        {run.attempt > 1 && <span class="dim"> · attempt {run.attempt}</span>}
        <span class="narrow dim">
          <Time at={run.endedAt ?? run.startedAt} />
        </span>
        {run.error !== '' &&
          (isSameError ? (
            <p class="dim small-text">the same error</p>
          ) : (
            <p class="error short">{run.error}</p>
          ))}
      </td>
      {isModuleShown && (
        <td class="wide short">
          {run.module !== '' && <Link to={pathToModule(run.module)}>{run.module}</Link>}
        </td>
      )}
      <td class="wide short dim">{run.queue}</td>
      <td class="number wide">{run.result === 'running' ? '' : durationText(run.durationMs)}</td>
      <td class="number wide">
        <Time at={run.endedAt ?? run.startedAt} />
      </td>
    </tr>
  );
}
