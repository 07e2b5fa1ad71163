/**
 * The page of one module with its tabs. The header comes from the stream and is always current; each tab reads its own data
 * when it is opened.
 */

import type { VNode } from 'preact';
import { changes, live } from '../lib/live.ts';
import { MODULE_TABS, type ModuleTab, pathTo } from '../lib/places.ts';
import type { ModuleExplanation, RunList } from '../lib/responses.ts';
import { useResponse } from '../lib/use-response.ts';
import { ChangedCard } from '../parts/module-changed.tsx';
import { Shown } from '../parts/response.tsx';
import { RunGrid } from '../parts/run-grid.tsx';
import { RunsTable } from '../parts/runs.tsx';
import { capital } from '../parts/sentence.tsx';
import { Badge, kindOf, MODULE_KINDS, Sign } from '../parts/sign.tsx';
import { Card, Empty, Link, Time } from '../parts/text.tsx';
import { Blocker, WhyTree } from '../parts/why-tree.tsx';
import { Actions } from './module-actions.tsx';
import { ChangesTab } from './module-changes.tsx';
import { HooksTab } from './module-hooks.tsx';
import { ObjectsTab } from './module-objects.tsx';
import { ValuesTab } from './module-values.tsx';
import { Versions } from './module-versions.tsx';

const TAB_NAMES: Readonly<Record<ModuleTab, string>> = {
  why: 'Why',
  runs: 'Runs',
  objects: 'Objects',
  changes: 'Changes',
  values: 'Values',
  hooks: 'Hooks',
};

/** One module: why it is as it is, what ran, what would change, its values and hooks. */
export function ModulePage({ name, tab }: { name: string; tab: ModuleTab }): VNode {
  const module = live.value.modules.get(name);
  return (
    <>
      <header class="title">
        <p>
          <Link to="modules">Modules</Link>
        </p>
        <div class="row start">
          <h1 tabIndex={-1}>{name}</h1>
          {module !== undefined && (
            <>
              <Badge kind={kindOf(MODULE_KINDS, module.status)} />
              <span class="dim">
                <Time at={module.since} kind="for" />
              </span>
            </>
          )}
        </div>
        {module !== undefined && <Actions key={name} module={module} />}
      </header>
      <nav class="tabs" aria-label={`Module ${name}`}>
        <ul>
          {MODULE_TABS.map((each) => (
            <li key={each}>
              <Link
                to={pathTo(each === 'why' ? ['modules', name] : ['modules', name, each])}
                aria-current={each === tab ? 'page' : undefined}
              >
                {TAB_NAMES[each]}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Tab key={`${name} ${tab}`} name={name} tab={tab} />
    </>
  );
}

/** The content of a tab. Its key contains the tab, so that state does not move between tabs. */
function Tab({ name, tab }: { name: string; tab: ModuleTab }): VNode {
  switch (tab) {
    case 'why':
      return <WhyTab name={name} />;
    case 'runs':
      return <RunsTab name={name} />;
    case 'objects':
      return <ObjectsTab name={name} />;
    case 'changes':
      return <ChangesTab name={name} />;
    case 'values':
      return <ValuesTab name={name} />;
    case 'hooks':
      return <HooksTab name={name} />;
  }
}

/** The first tab: what blocks the module, the tree of conditions, and facts. */
function WhyTab({ name }: { name: string }): VNode {
  const responded = useResponse<ModuleExplanation>(pathTo(['modules', name]), changes.value);
  return (
    <Shown responded={responded}>
      {(explanation) => {
        const { why } = explanation;
        const blocker = why?.children.find(({ ok }) => ok === false);
        return (
          <>
            {blocker === undefined ? (
              <Fine explanation={explanation} />
            ) : (
              <Blocker node={blocker} module={name} />
            )}
            <ChangedCard changed={explanation.changed} />
            <div class="columns uneven">
              {why !== undefined && (
                <Card title="Conditions, in order">
                  <WhyTree root={why} blocker={blocker} />
                </Card>
              )}
              <Card title="Facts">
                <Facts explanation={explanation} />
              </Card>
            </div>
            <Versions explanation={explanation} />
          </>
        );
      }}
    </Shown>
  );
}

/** In place of a blocker: the module is ready, or waits for something that comes by itself. */
function Fine({ explanation: { status, waitsFor, reason } }: { explanation: ModuleExplanation }): VNode {
  const { tone, sign, word } = kindOf(MODULE_KINDS, status);
  const isReady = status === 'ready';
  return (
    <section class={`headline ${tone}`}>
      <span class="disc">
        <Sign name={sign} />
      </span>
      <div>
        <p class="level">{capital(word)}</p>
        <p class="sentence">
          {isReady
            ? 'The last run succeeded, and nothing blocks further changes.'
            : capital(waitsFor[0] ?? reason)}
        </p>
      </div>
    </section>
  );
}

/** A row that is absent without a value. */
function OptionalFact({ title, text }: { title: string; text: VNode | string | undefined }): VNode | null {
  if (text === undefined) return null;
  return (
    <>
      <dt>{title}</dt>
      <dd>{text}</dd>
    </>
  );
}

/** The required range of Kubernetes versions, and the version of the cluster if it is known. */
function kubernetesText({ range, version }: NonNullable<ModuleExplanation['kubernetes']>): string {
  return version === null ? range : `${range} (the cluster has ${version})`;
}

/** Facts that are not part of the conditions. */
function Facts({ explanation }: { explanation: ModuleExplanation }): VNode {
  const {
    position,
    path,
    version,
    release,
    requires,
    lastRun,
    nextReconcileAt,
    failure,
    deletionPolicy,
    phase,
    about = {},
    kubernetes,
  } = explanation;
  return (
    <dl class="facts">
      <OptionalFact title="Description" text={about.description} />
      <OptionalFact title="Stage" text={about.stage} />
      <dt>Run order</dt>
      <dd>
        {position.place} of {position.of}
      </dd>
      <dt>Phase</dt>
      <dd>{phase ?? 'none'}</dd>
      <dt>Version</dt>
      <dd>{version ?? 'none'}</dd>
      <dt>Release</dt>
      <dd>{release === null ? 'none' : `revision ${release.revision}`}</dd>
      <dt>Last run</dt>
      <dd>
        {lastRun === null ? (
          'none yet'
        ) : (
          <>
            {lastRun.result}, <Time at={lastRun.startedAt} />
          </>
        )}
      </dd>
      {failure !== null && (
        <>
          <dt>Failed attempts</dt>
          <dd>
            {failure.attempts}
            {failure.nextAttemptAt !== null && (
              <>
                , next <Time at={failure.nextAttemptAt} kind="until" />
              </>
            )}
          </dd>
        </>
      )}
      {nextReconcileAt !== null && (
        <OptionalFact title="Next recheck" text={<Time at={nextReconcileAt} kind="until" />} />
      )}
      <dt>Requires</dt>
      <dd>
        {requires.length === 0
          ? 'no other module'
          : requires.map(({ name, range, status }) => (
              <div key={name}>
                <Link to={pathTo(['modules', name])}>{name}</Link> {range ?? ''} ({status ?? 'does not exist'}
                )
              </div>
            ))}
      </dd>
      <OptionalFact title="Kubernetes" text={kubernetes && kubernetesText(kubernetes)} />
      <dt>On deletion</dt>
      <dd>
        {deletionPolicy}
        {about.disableMessage !== undefined && `: ${about.disableMessage}`}
      </dd>
      <dt>Directory</dt>
      <dd>
        <code>{path}</code>
      </dd>
    </dl>
  );
}

/** The last hundred runs of the module; filters are on the page "Runs". */
function RunsTab({ name }: { name: string }): VNode {
  const responded = useResponse<RunList>(pathTo(['runs'], { module: name, limit: '100' }), changes.value);
  return (
    <Shown responded={responded}>
      {({ runs }) =>
        runs.length === 0 ? (
          <Empty>No run of the module is known.</Empty>
        ) : (
          <>
            <RunGrid module={name} />
            <Card title="Runs" more={<Link to={pathTo(['runs'], { module: name })}>with filters</Link>}>
              <RunsTable runs={runs} caption={`Runs of ${name}`} isModuleShown={false} />
            </Card>
          </>
        )
      }
    </Shown>
  );
}
