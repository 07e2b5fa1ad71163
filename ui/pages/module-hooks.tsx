/** The tab "Hooks" of a module. */

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { changes } from '../lib/live.ts';
import { pathTo } from '../lib/places.ts';
import type { HooksResponse, HookView, SnapshotsResponse } from '../lib/responses.ts';
import { spanText } from '../lib/time-text.ts';
import { useResponse } from '../lib/use-response.ts';
import { ActionButtons } from '../parts/action-buttons.tsx';
import { jsonText } from '../parts/json-text.ts';
import { counted, TRIGGERABLE } from '../parts/names.ts';
import { Shown } from '../parts/response.tsx';
import { RunsTable } from '../parts/runs.tsx';
import { Badge, RUN_KINDS } from '../parts/sign.tsx';
import { Card, Empty, Link, Time } from '../parts/text.tsx';

/** The hooks of a module with what runs them, how their last runs ended, and the objects that they see. */
export function HooksTab({ name }: { name: string }): VNode {
  const responded = useResponse<HooksResponse>(pathTo(['modules', name, 'hooks']), changes.value);
  return (
    <>
      <Shown responded={responded}>
        {({ hooks }) =>
          hooks.length === 0 ? (
            <Empty>The module has no hooks.</Empty>
          ) : (
            hooks.map((hook) => <HookCard key={hook.name} module={name} hook={hook} />)
          )
        }
      </Shown>
      <Snapshots name={name} />
    </>
  );
}

/** One hook: how it runs now, its bindings, its last runs. */
function HookCard({ module, hook }: { module: string; hook: HookView }): VNode {
  return (
    <Card
      title={hook.name}
      more={
        hook.runningMs === null ? (
          <span class="dim">{hook.transport}</span>
        ) : (
          <span class="state">
            <Badge kind={RUN_KINDS.running} /> for {spanText(hook.runningMs)}
          </span>
        )
      }
    >
      <ul class="bindings">
        {hook.bindings.map(({ type, name, queue, crontab, nextAt, kind, order, allowFailure }) => (
          <li key={`${type} ${name} ${crontab} ${kind}`}>
            <strong>{type}</strong>
            {name !== '' && name !== type && name !== kind && <span>{name}</span>}
            {crontab !== '' && <code>{crontab}</code>}
            {kind !== '' && <span>{kind}</span>}
            {order !== null && <span class="dim">order {order}</span>}
            {queue !== '' && (
              <span class="dim">
                queue <Link to={pathTo(['queues', queue])}>{queue}</Link>
              </span>
            )}
            {allowFailure && <span class="dim">may fail</span>}
            {nextAt !== null && (
              <span>
                next <Time at={nextAt} kind="until" />
              </span>
            )}
            {TRIGGERABLE.has(type) && (
              <ActionButtons
                actions={['trigger-hook']}
                target={{ hook: `${module}/${hook.name}`, binding: name || type }}
              />
            )}
          </li>
        ))}
      </ul>
      {hook.runs.length > 0 && (
        <RunsTable runs={hook.runs} caption={`Last runs of ${hook.name}`} isModuleShown={false} />
      )}
    </Card>
  );
}

/** They can be long, so they are read on request. */
function Snapshots({ name }: { name: string }): VNode {
  const [isWanted, setWanted] = useState(false);
  const responded = useResponse<SnapshotsResponse>(
    isWanted ? pathTo(['modules', name, 'snapshots']) : undefined,
  );
  return (
    <Card title="Snapshots">
      {isWanted ? (
        <Shown responded={responded}>{({ hooks }) => <SnapshotList hooks={hooks} />}</Shown>
      ) : (
        <>
          <p class="dim">The objects that hooks with kubernetes bindings receive.</p>
          <p>
            <button type="button" class="action" onClick={() => setWanted(true)}>
              Show
            </button>
          </p>
        </>
      )}
    </Card>
  );
}

/** Snapshots by hook and binding; objects are collapsed, since they can be large. */
function SnapshotList({ hooks }: { hooks: SnapshotsResponse['hooks'] }): VNode {
  if (hooks.length === 0) return <Empty>No hook has a kubernetes binding.</Empty>;
  return (
    <ul class="plain">
      {hooks.flatMap(({ hook, bindings }) =>
        bindings.map((binding) => (
          <li key={`${hook} ${binding.binding}`} class="item">
            <p>
              <strong>{binding.binding}</strong>{' '}
              <span class="dim">
                {hook} · {binding.kind} · {counted(binding.count, 'object')} · {binding.added} added,{' '}
                {binding.modified} modified, {binding.deleted} deleted
              </span>
            </p>
            {binding.problem !== null && <p class="bad">{binding.problem}</p>}
            {binding.items.map((item, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- filter results have no name
              <details key={index}>
                <summary>
                  {item.name === ''
                    ? `object ${index + 1}`
                    : [item.namespace, item.name].filter(Boolean).join('/')}
                </summary>
                <pre class="output">{jsonText(item.content)}</pre>
              </details>
            ))}
            {binding.more > 0 && <p class="dim">and {binding.more} more</p>}
          </li>
        )),
      )}
    </ul>
  );
}
