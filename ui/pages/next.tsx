/** The page "Next": retries, schedules, rechecks and ends of pauses, by time. */

import type { VNode } from 'preact';
import { changes } from '../lib/live.ts';
import { pathTo } from '../lib/places.ts';
import type { NextItem } from '../lib/responses.ts';
import { location } from '../lib/site.ts';
import { useResponse } from '../lib/use-response.ts';
import { ChoiceFilter } from '../parts/filter.tsx';
import { NextList } from '../parts/next-list.tsx';
import { Shown } from '../parts/response.tsx';
import { NEXT_KINDS } from '../parts/sign.tsx';
import { Empty, Title } from '../parts/text.tsx';

const HOURS = [
  ['1', 'hour'],
  ['168', 'seven days'],
] as const;

/** Things that happen at known times. */
export function NextPage(): VNode {
  const { query } = location.value;
  const hours = query.get('hours') ?? '';
  const kind = query.get('kind') ?? '';
  const responded = useResponse<{ items: readonly NextItem[] }>(pathTo(['next'], { hours }), changes.value);
  return (
    <>
      <Title note="Retries, schedules, rechecks and ends of pauses. Everything else runs when something changes.">
        Next
      </Title>
      <div class="filters">
        <ChoiceFilter name="hours" label="Within the next" choices={HOURS} all="24 hours" />
        <ChoiceFilter
          name="kind"
          label="Kind"
          choices={Object.entries(NEXT_KINDS).map(([key, { word }]) => [key, word])}
        />
      </div>
      <Shown responded={responded}>
        {({ items }) => {
          const shown = items.filter((item) => kind === '' || item.kind === kind);
          return shown.length === 0 ? (
            <Empty>Nothing is scheduled.</Empty>
          ) : (
            <div class="card">
              <NextList items={shown} isLong />
            </div>
          );
        }}
      </Shown>
    </>
  );
}
