/** The last runs of a module side by side: how they ended, and how long they took. */

import type { VNode } from 'preact';
import { changes } from '../lib/live.ts';
import { pathTo } from '../lib/places.ts';
import type { RunList, RunView } from '../lib/responses.ts';
import { durationText } from '../lib/time-text.ts';
import { useResponse } from '../lib/use-response.ts';
import { counted, pathToRun } from './names.ts';
import { kindOf, RUN_KINDS, Sign } from './sign.tsx';
import { Card, Link } from './text.tsx';

const SHOWN_RUNS = 50;
/** Of a bar; also of the one that took no time. */
const HEIGHT = 48;
const LEAST = 3;
const WIDTH = 10;

/** The last 50 runs of a module, the newest at the right; nothing before its first one. */
export function RunGrid({ module }: { module: string }): VNode | null {
  const query = { module, type: 'ModuleRun', limit: String(SHOWN_RUNS) };
  const { data } = useResponse<RunList>(pathTo(['runs'], query), changes.value);
  if (data === undefined || data.runs.length === 0) return null;
  const runs = data.runs.toReversed();
  const longestMs = Math.max(1, ...runs.map(({ durationMs }) => durationMs));
  return (
    <Card
      title={`Last ${counted(runs.length, 'run')} of the module`}
      more={<span class="dim">the newest at the right</span>}
    >
      <ol class="run-grid">
        {runs.map((run) => (
          <li key={run.id}>
            <Bar run={run} longestMs={longestMs} />
          </li>
        ))}
      </ol>
      <Legend runs={runs} longestMs={longestMs} />
    </Card>
  );
}

/** Heights grow with the root, so that short runs differ too when one took very long. */
function Bar({ run, longestMs }: { run: RunView; longestMs: number }): VNode {
  const { tone, sign, word } = kindOf(RUN_KINDS, run.result);
  const height = Math.max(LEAST, Math.round(HEIGHT * Math.sqrt(run.durationMs / longestMs)));
  const label = labelOf(run, word);
  return (
    <Link to={pathToRun(run)} class={`run-bar ${tone}`} title={label} aria-label={label}>
      <svg width={WIDTH} height={HEIGHT} aria-hidden="true">
        <rect y={HEIGHT - height} width={WIDTH} height={height} rx="2" />
      </svg>
      <Sign name={sign} />
    </Link>
  );
}

function labelOf({ id, startedAt, durationMs, attempt, trigger }: RunView, word: string): string {
  const when = new Date(startedAt).toLocaleString([], { hourCycle: 'h23' });
  const tries = attempt > 1 ? `, attempt ${attempt}` : '';
  return `run ${id} ${word} in ${durationText(durationMs)}, ${when}${tries}, ${trigger}`;
}

/** What the signs mean, of those that are shown. */
function Legend({ runs, longestMs }: { runs: readonly RunView[]; longestMs: number }): VNode {
  const counts = Map.groupBy(runs, ({ result }) => result);
  return (
    <ul class="legend">
      {[...counts].map(([result, those]) => {
        const { tone, sign, word } = kindOf(RUN_KINDS, result);
        return (
          <li key={result} class="row start">
            <Sign name={sign} tone={tone} /> {those.length} {word}
          </li>
        );
      })}
      <li class="dim">the highest bar: {durationText(longestMs)}</li>
    </ul>
  );
}
