/** The page "Runs": filters in the address, a grid of the last runs of each task or hook, and the list. */

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { changes, live } from '../lib/live.ts';
import { pathTo } from '../lib/places.ts';
import type { RunList, RunView } from '../lib/responses.ts';
import { location, setFilter } from '../lib/site.ts';
import { durationText } from '../lib/time-text.ts';
import { useResponse } from '../lib/use-response.ts';
import { ChoiceFilter, TextFilter } from '../parts/filter.tsx';
import { pathToRun, titleOf } from '../parts/names.ts';
import { Shown } from '../parts/response.tsx';
import { RunsTable } from '../parts/runs.tsx';
import { kindOf, RUN_KINDS, Sign } from '../parts/sign.tsx';
import { Card, Empty, Link, Title } from '../parts/text.tsx';

const PAGE = 100;
const MOST = 500;
const RESULTS = Object.entries(RUN_KINDS).map(([key, { word }]) => [key, word] as const);
/** Filters that the API has. */
const FILTERS = ['module', 'hook', 'queue', 'result', 'event'] as const;

/** Runs, the newest first: as a grid, to see since when and how often, and as a list. */
export function RunsPage(): VNode {
  const { query } = location.value;
  const [limit, setLimit] = useState(PAGE);
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? '']));
  const path = pathTo(['runs'], { ...filters, limit: String(limit) });
  const responded = useResponse<RunList>(path, changes.value);
  const event = query.get('event') ?? '';
  const hooks = [...new Set([...live.value.runs.values()].map(({ hook }) => hook))].filter(Boolean).sort();
  return (
    <>
      <Title note="Attempts of tasks, and the hooks that they ran.">Runs</Title>
      <div class="filters">
        <TextFilter name="module" label="Module" known={[...live.value.modules.keys()]} />
        <TextFilter name="hook" label="Hook" known={hooks} />
        <ChoiceFilter name="result" label="Result" choices={RESULTS} />
        {event !== '' && (
          <button type="button" onClick={() => setFilter('event', '')}>
            All events
          </button>
        )}
      </div>
      <Shown responded={responded}>
        {({ runs, next }) =>
          runs.length === 0 ? (
            <Empty>No run matches the filters. Enter complete names of modules and hooks.</Empty>
          ) : (
            <>
              <Grid runs={runs} />
              <Card title={event === '' ? 'List' : 'Runs of one event'}>
                <RunsTable runs={runs} caption="Runs, the newest first" />
                {next !== null && limit < MOST && (
                  <p>
                    <button
                      type="button"
                      class="action"
                      onClick={() => setLimit(Math.min(MOST, limit + PAGE))}
                    >
                      Show more
                    </button>
                  </p>
                )}
              </Card>
            </>
          )
        }
      </Shown>
    </>
  );
}

/** Size of the grid: more would not fit on a small screen. */
const COLUMNS = 16;
const ROWS = 15;

/** Rows are tasks or hooks, in the order of their last run; empty cells fill from the left. */
function Grid({ runs }: { runs: readonly RunView[] }): VNode | null {
  const rows = new Map<string, RunView[]>();
  for (const run of runs) {
    const name = titleOf(run);
    const row = rows.get(name) ?? [];
    rows.set(name, row);
    if (row.length < COLUMNS) row.push(run);
  }
  const shown = [...rows].slice(0, ROWS);
  return (
    <Card title="Grid" more={<span class="dim">the newest at the right</span>}>
      <div class="scroll">
        <table class="grid">
          <caption class="unseen">Last runs of each task or hook, the newest at the right</caption>
          <tbody>
            {shown.map(([name, row]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {Array.from({ length: COLUMNS - row.length }, (_, index) => (
                  <td key={index} />
                ))}
                {row.toReversed().map((run) => (
                  <td key={run.id}>
                    <Cell run={run} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

/** One run as a sign; its label has the words. */
function Cell({ run }: { run: RunView }): VNode {
  const { tone, sign, word } = kindOf(RUN_KINDS, run.result);
  const took = run.result === 'running' ? '' : ` in ${durationText(run.durationMs)}`;
  const label = `${word}${took}, ${new Date(run.startedAt).toLocaleTimeString([], { hourCycle: 'h23' })}`;
  return (
    <Link to={pathToRun(run)} class={`cell ${tone}`} title={label} aria-label={`run ${run.id} ${label}`}>
      <Sign name={sign} />
    </Link>
  );
}
