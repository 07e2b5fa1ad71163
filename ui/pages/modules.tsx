/**
 * The page "Modules": a table of all modules with filters in the address. With more than 200 modules only the rows in view
 * are rendered.
 */

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { live } from '../lib/live.ts';
import type { ModuleResponse, ModuleStatus } from '../lib/responses.ts';
import { location } from '../lib/site.ts';
import { type RowWindow, rowWindow } from '../lib/window-rows.ts';
import { ChoiceFilter, TextFilter } from '../parts/filter.tsx';
import { counted, pathToModule } from '../parts/names.ts';
import { RunStrip } from '../parts/run-strip.tsx';
import { Sentence } from '../parts/sentence.tsx';
import { Badge, kindOf, MODULE_KINDS } from '../parts/sign.tsx';
import { Empty, Link, Time, Title } from '../parts/text.tsx';

/** As the style has it: rows of a long table must have one height. */
const ROW_HEIGHT = 46;

/** All modules, to find those in which something is wrong. */
export function ModulesPage(): VNode {
  const all = [...live.value.modules.values()];
  const { query } = location.value;
  const status = query.get('status') ?? '';
  const text = (query.get('q') ?? '').toLowerCase();
  const shown = all.filter((module) => (status === '' || module.status === status) && isMatch(module, text));
  const counts = new Map<string, number>();
  for (const { status } of all) counts.set(status, (counts.get(status) ?? 0) + 1);
  const choices = (Object.keys(MODULE_KINDS) as ModuleStatus[])
    .filter((key) => counts.has(key) || key === status)
    .map((key) => [key, `${MODULE_KINDS[key].word} (${counts.get(key) ?? 0})`] as const);
  return (
    <>
      <Title note="In the order in which they run.">Modules</Title>
      <div class="filters">
        <TextFilter name="q" label="Name or text" />
        <ChoiceFilter name="status" label="State" choices={choices} />
        <output class="dim">
          {shown.length === all.length
            ? counted(all.length, 'module')
            : `${shown.length} of ${counted(all.length, 'module')}`}
        </output>
      </div>
      {shown.length === 0 ? (
        <Empty>{live.value.isReady ? 'No module matches the filter.' : 'Reading …'}</Empty>
      ) : (
        <ModuleTable modules={shown} />
      )}
    </>
  );
}

/** The filter looks at the name and at the sentence that is shown. */
function isMatch(module: ModuleResponse, text: string): boolean {
  return text === '' || `${module.module}\n${reasonOf(module)}`.toLowerCase().includes(text);
}

/** The most important fact about a module, in one line. */
function reasonOf(module: ModuleResponse): string {
  const { status, lastError, waitsFor, heldUpBy, reason, paused, update } = module;
  if (paused !== undefined) return paused.reason;
  const pending = update && `update to ${update.version ?? 'another version'}: ${update.reason}`;
  return lastError ?? heldUpBy ?? waitsFor ?? pending ?? (status === 'ready' ? '' : reason);
}

/** Row numbers are set for screen readers, because not all rows are in the document. */
function ModuleTable({ modules }: { modules: readonly ModuleResponse[] }): VNode {
  const body = useRef<HTMLTableElement>(null);
  const { first, end, before, after } = useRows(body, modules.length);
  return (
    <div class="card table">
      <table ref={body} class="modules-table" aria-rowcount={modules.length + 1}>
        <caption class="unseen">Modules in run order</caption>
        <thead>
          <tr>
            <th scope="col">Module</th>
            <th scope="col">State</th>
            <th scope="col" class="wide">
              Version
            </th>
            <th scope="col" class="wide">
              Why
            </th>
            <th scope="col" class="wide">
              Last runs
            </th>
            <th scope="col" class="number wide">
              Last run
            </th>
          </tr>
        </thead>
        <Space height={before} />
        <tbody>
          {modules.slice(first, end).map((module, index) => (
            <ModuleRow key={module.module} module={module} row={first + index + 2} />
          ))}
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
        <td class="space" colSpan={6} style={{ height: `${height}px` }} />
      </tr>
    </tbody>
  );
}

/** One module: state, reason, last runs. */
function ModuleRow({ module, row }: { module: ModuleResponse; row: number }): VNode {
  const reason = reasonOf(module);
  return (
    <tr aria-rowindex={row}>
      <th scope="row">
        <Link class="name" to={pathToModule(module.module)} title={module.module}>
          {module.module}
        </Link>
      </th>
      <td>
        <Badge kind={kindOf(MODULE_KINDS, module.status)} />
      </td>
      <td class="wide">
        <ShownVersion module={module} />
      </td>
      <td class="wide reason-cell">
        <span class="clamped" title={reason}>
          {module.nextTryAt !== undefined && (
            <strong>
              <Time at={module.nextTryAt} kind="until" />{' '}
            </strong>
          )}
          <Sentence text={reason} />
        </span>
      </td>
      <td class="wide">
        <RunStrip recent={module.recent ?? ''} />
      </td>
      <td class="number wide">{module.lastRun !== undefined && <Time at={module.lastRun.startedAt} />}</td>
    </tr>
  );
}

/** The version that runs, and the one that does not yet. */
function ShownVersion({ module: { version = '', update } }: { module: ModuleResponse }): VNode {
  if (update === undefined) return <>{version}</>;
  const wanted = update.version ?? 'another one';
  return (
    <span title={`${wanted} is wanted: ${update.reason}`}>
      {version} <span class={update.needs === 'time' ? 'wait' : 'bad'}>→ {wanted}</span>
    </span>
  );
}

/** Follows what is seen of a long table. */
function useRows(table: { current: HTMLTableElement | null }, count: number): RowWindow {
  const [rows, setRows] = useState(() => rowWindow(count, ROW_HEIGHT, 0, innerHeight));
  useEffect(() => {
    const look = (): void => {
      const top = -(table.current?.getBoundingClientRect().top ?? 0);
      const next = rowWindow(count, ROW_HEIGHT, top, innerHeight);
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
  return rows.end > count ? rowWindow(count, ROW_HEIGHT, 0, innerHeight) : rows;
}
