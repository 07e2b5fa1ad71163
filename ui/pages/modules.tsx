/**
 * The page "Modules": a table of all modules with filters in the address. With more than 200 modules only the rows in view
 * are rendered, so all rows have one height.
 */

import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { live } from '../lib/live.ts';
import type { ModuleResponse, ModuleStatus } from '../lib/responses.ts';
import { location } from '../lib/site.ts';
import { type RowWindow, rowWindow } from '../lib/window-rows.ts';
import { ChipFilter, TextFilter } from '../parts/filter.tsx';
import { isProblem, type ListRow, listRows, nextOfModules, reasonOf } from '../parts/module-rows.ts';
import { counted, pathToModule } from '../parts/names.ts';
import { RunStrip } from '../parts/run-strip.tsx';
import { Sentence } from '../parts/sentence.tsx';
import { Badge, kindOf, MODULE_KINDS } from '../parts/sign.tsx';
import { Empty, Link, Time, Title } from '../parts/text.tsx';

/** As the style has it; on a narrow page the reason is below the name. */
const ROW_HEIGHT = 46;
const NARROW_ROW_HEIGHT = 84;
const NARROW = matchMedia('(max-width: 800px)');
const COLUMNS = 8;

/** The groups that are open, by what their modules wait for. */
const openGroups = signal<ReadonlySet<string>>(new Set());

/** All modules, to find those in which something is wrong. */
export function ModulesPage(): VNode {
  const all = [...live.value.modules.values()];
  const { query } = location.value;
  const status = query.get('status') ?? '';
  const order = query.get('order') ?? '';
  const text = (query.get('q') ?? '').toLowerCase();
  const rows = listRows(all, { status, text, order, open: openGroups.value });
  const shown = rows.reduce((sum, row) => sum + (row.type === 'group' ? (row.isOpen ? 0 : row.count) : 1), 0);
  return (
    <>
      <Title note={order === 'run' ? 'In the order in which they run.' : 'Problems first.'}>Modules</Title>
      <div class="filters">
        <TextFilter name="q" label="Name or text" />
        <ChipFilter name="status" label="State" all={all.length} chips={chipsOf(all, status)} />
        <ChipFilter name="order" label="Order" chips={[{ value: 'run', text: 'run order' }]} />
        <output class="dim">
          {shown === all.length
            ? counted(all.length, 'module')
            : `${shown} of ${counted(all.length, 'module')}`}
        </output>
      </div>
      {rows.length === 0 ? (
        <Empty>{live.value.isReady ? 'No module matches the filter.' : 'Reading …'}</Empty>
      ) : (
        <ModuleTable rows={rows} />
      )}
    </>
  );
}

/** A chip for each state that some module has, and one for all problems. */
function chipsOf(
  modules: readonly ModuleResponse[],
  chosen: string,
): Parameters<typeof ChipFilter>[0]['chips'] {
  const counts = new Map<string, number>();
  for (const { status } of modules) counts.set(status, (counts.get(status) ?? 0) + 1);
  const states = (Object.keys(MODULE_KINDS) as ModuleStatus[]).filter(
    (key) => counts.has(key) || key === chosen,
  );
  const problems = modules.filter(isProblem).length;
  return [
    { value: 'problems', text: 'problems', count: problems },
    ...states.map((key) => ({ value: key, text: MODULE_KINDS[key].word, count: counts.get(key) ?? 0 })),
  ];
}

/** Row numbers are set for screen readers, because not all rows are in the document. */
function ModuleTable({ rows }: { rows: readonly ListRow[] }): VNode {
  const body = useRef<HTMLTableElement>(null);
  const { first, end, before, after } = useRows(body, rows.length);
  const due = nextOfModules(live.value.next);
  return (
    <div class="card table">
      <table ref={body} class="modules-table" aria-rowcount={rows.length + 1}>
        <caption class="unseen">Modules</caption>
        <thead>
          <tr>
            <th scope="col">Module</th>
            <th scope="col">State</th>
            {(
              [
                ['Since', 'wide'],
                ['Version', 'widest'],
                ['Revision', 'widest number'],
                ['Why', 'wide'],
                ['Last runs', 'widest'],
                ['Next', 'wide'],
              ] as const
            ).map(([title, width]) => (
              <th key={title} scope="col" class={width}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <Space height={before} />
        <tbody>
          {rows
            .slice(first, end)
            .map((row, index) =>
              row.type === 'group' ? (
                <GroupRow key={`group ${row.cause}`} group={row} row={first + index + 2} />
              ) : (
                <ModuleRow
                  key={row.module.module}
                  module={row.module}
                  isInGroup={row.isInGroup}
                  next={row.module.nextTryAt ?? due.get(row.module.module)}
                  row={first + index + 2}
                />
              ),
            )}
        </tbody>
        <Space height={after} />
      </table>
    </div>
  );
}

/** Stands for rows that are not rendered, so that the scroll bar is right. */
function Space({ height }: { height: number }): VNode | null {
  if (height === 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr>
        <td class="space" colSpan={COLUMNS} style={{ height: `${height}px` }} />
      </tr>
    </tbody>
  );
}

/** Modules that wait for the same thing; a click shows them. */
function GroupRow({ group, row }: { group: Extract<ListRow, { type: 'group' }>; row: number }): VNode {
  const { cause, count, first, isOpen } = group;
  const toggle = (): void => {
    const others = [...openGroups.value].filter((other) => other !== cause);
    openGroups.value = new Set(isOpen ? others : [...others, cause]);
  };
  return (
    <tr aria-rowindex={row} class="group">
      <th scope="row" colSpan={2}>
        <button type="button" class="small" aria-expanded={isOpen} onClick={toggle}>
          {isOpen ? '▾' : '▸'} {count} wait {behindOf(cause)}
        </button>
        <span class="narrow clamped dim">{reasonOf(first)}</span>
      </th>
      <td class="wide">
        <Time at={first.since} kind="for" />
      </td>
      <td class="widest" />
      <td class="widest" />
      <td class="wide reason-cell">
        <span class="clamped" title={reasonOf(first)}>
          <Sentence text={reasonOf(first)} />
        </span>
      </td>
      <td class="widest" />
      <td class="wide" />
    </tr>
  );
}

/** What modules wait for, in two or three words: the module, hook or task at the head of their queue. */
function behindOf(cause: string): string {
  const [, kind, name = ''] = /^(queue|module|hook)\/(.+)$/s.exec(cause) ?? [];
  if (kind !== 'queue') return kind === undefined ? 'for the same' : `for ${name}`;
  const [head] = live.value.queues.get(name)?.tasks ?? [];
  const what = head === undefined ? '' : head.module === '' ? head.hook || head.type : head.module;
  return what === '' ? `in queue ${name}` : `behind ${what}`;
}

/** One module: state, since when, reason, last runs, when something happens next. */
function ModuleRow({
  module,
  isInGroup,
  next,
  row,
}: {
  module: ModuleResponse;
  isInGroup: boolean;
  next: string | undefined;
  row: number;
}): VNode {
  const reason = reasonOf(module);
  return (
    <tr aria-rowindex={row} class={isInGroup ? 'member' : undefined}>
      <th scope="row">
        <Link class="name" to={pathToModule(module.module)} title={module.module}>
          {module.module}
        </Link>
        <span class="narrow clamped dim">
          <Sentence text={reason} />
        </span>
      </th>
      <td>
        <Badge kind={kindOf(MODULE_KINDS, module.status)} />
      </td>
      <td class="wide">
        <Time at={module.since} kind="for" />
      </td>
      <td class="widest version">
        <ShownVersion module={module} />
      </td>
      <td class="widest number">{module.revision}</td>
      <td class="wide reason-cell">
        <span class="clamped" title={reason}>
          <Sentence text={reason} />
        </span>
      </td>
      <td class="widest">
        <RunStrip recent={module.recent ?? ''} />
        {module.lastRun !== undefined && (
          <span class="unseen">
            the last one <Time at={module.lastRun.startedAt} />
          </span>
        )}
      </td>
      <td class="wide">{next !== undefined && <Time at={next} kind="until" />}</td>
    </tr>
  );
}

/** The version that runs, and the one that does not yet. */
function ShownVersion({ module: { version = '', update } }: { module: ModuleResponse }): VNode {
  if (update === undefined) return <span title={version}>{version}</span>;
  const wanted = update.version ?? 'another one';
  return (
    <span title={`${wanted} is wanted: ${update.reason}`}>
      {version} <span class={update.needs === 'time' ? 'wait' : 'bad'}>→ {wanted}</span>
    </span>
  );
}

/** Follows what is seen of a long table. */
function useRows(table: { current: HTMLTableElement | null }, count: number): RowWindow {
  const [rows, setRows] = useState(() => rowWindow(count, heightOfRow(), 0, innerHeight));
  useEffect(() => {
    const look = (): void => {
      const top = -(table.current?.getBoundingClientRect().top ?? 0);
      const next = rowWindow(count, heightOfRow(), top, innerHeight);
      setRows((last) =>
        last.first === next.first && last.end === next.end && last.after === next.after ? last : next,
      );
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [table, count]);
  return rows.end > count ? rowWindow(count, heightOfRow(), 0, innerHeight) : rows;
}

function heightOfRow(): number {
  return NARROW.matches ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
}
