/** The tree of conditions of a module (`src/status/why-tree.ts`), and its first unmet condition as a headline. */

import type { VNode } from 'preact';
import { conditionTitle } from '../../src/status/condition-title.ts';
import { nowMs } from '../lib/clock.ts';
import { live } from '../lib/live.ts';
import { pathToRef } from '../lib/places.ts';
import { problemOfRef } from '../lib/problems.ts';
import type { WhyNode } from '../lib/responses.ts';
import { momentText, splitReason } from '../lib/time-text.ts';
import { ProblemNotes } from './problem.tsx';
import { capital, Sentence } from './sentence.tsx';
import { Sign } from './sign.tsx';
import { Link, Output, Time } from './text.tsx';

/** Longer errors get a box that scrolls. */
const LONG = 500;

/** The name of a condition in its present state. */
function nameOf(node: WhyNode): string {
  return conditionTitle(node, (at) => momentText(at, nowMs.peek()));
}

/** The condition that blocks the module, with the command or edit that corrects it. */
export function Blocker({ node, module }: { node: WhyNode; module: string }): VNode {
  const path = node.ref === null || node.ref === `module/${module}` ? undefined : pathToRef(node.ref);
  const [, code, text = node.text] = /^([A-Z]+(?:_[A-Z]+)+): (.*)$/s.exec(node.text) ?? [];
  const [sentence, reason] = splitReason(text);
  const problem = problemOfRef(live.value.headline?.details ?? [], module, node.ref);
  return (
    <section class="headline bad" aria-labelledby="blocker">
      <span class="disc">
        <Sign name="cross" />
      </span>
      <div>
        <p class="level">{nameOf(node)}</p>
        <h2 id="blocker" class="sentence">
          <Sentence text={capital(sentence)} />
        </h2>
        {reason.length > LONG && <Output label="Error">{reason}</Output>}
        {reason !== '' && reason.length <= LONG && <p class="reason">{reason}</p>}
        {code !== undefined && (
          <p>
            <code>{code}</code>
          </p>
        )}
        {node.until !== null && (
          <p>
            <strong>Next:</strong> <Time at={node.until} kind="until" />
          </p>
        )}
        {node.remedy !== null && problem?.advice.includes(node.remedy) !== true && (
          <p class="remedy">
            <strong>What to do:</strong> <Sentence text={node.remedy} />
          </p>
        )}
        {path !== undefined && node.ref !== null && problem === undefined && (
          <p>
            <Link to={path}>Go to {node.ref.replace('/', ' ')}</Link>
          </p>
        )}
        {problem !== undefined && <ProblemNotes problem={problem} on={{ module }} />}
      </div>
    </section>
  );
}

/** The conditions in the order in which they become true. */
export function WhyTree({ root, blocker }: { root: WhyNode; blocker: WhyNode | undefined }): VNode {
  return (
    <ol class="why">
      {root.children.map((node) => (
        <Condition key={node.id} node={node} isOpen={node === blocker} />
      ))}
    </ol>
  );
}

/** One condition; it can be opened if there are sources or further causes below it. */
function Condition({ node, isOpen }: { node: WhyNode; isOpen: boolean }): VNode {
  const children = node.children.filter(({ text }) => text !== '');
  const line = (
    <>
      <Truth ok={node.ok} />
      <span class="label">{nameOf(node)}</span>
      <span class={`dim text${isOpen ? ' clamped' : ''}`}>
        <Sentence text={node.text} />
      </span>
    </>
  );
  if (children.length === 0) return <li class="line">{line}</li>;
  return (
    <li>
      <details open={isOpen}>
        <summary class="line">{line}</summary>
        <ul>
          {children.map((child) => (
            <li key={child.id} class="line">
              <Truth ok={child.ok} />
              <span class="label">{child.id}</span>
              <span class="dim text">
                <Sentence text={child.text} />
                {child.ref?.startsWith('/') === true && <code> {child.ref}</code>}
              </span>
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

/** Met, not met or open, as a sign and as a word for screen readers. */
function Truth({ ok }: { ok: boolean | null }): VNode {
  if (ok === null)
    return (
      <>
        <Sign name="dash" tone="off" />
        <span class="unseen">open:</span>
      </>
    );
  return (
    <>
      <Sign name={ok ? 'check' : 'cross'} tone={ok ? 'ok' : 'bad'} />
      <span class="unseen">{ok ? 'met:' : 'not met:'}</span>
    </>
  );
}
