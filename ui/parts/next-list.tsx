/** A list of things that happen at known times; the long form has reasons, modules and clock times. */

import type { VNode } from 'preact';
import type { NextItem } from '../lib/responses.ts';
import { splitReason } from '../lib/time-text.ts';
import { pathToModule } from './names.ts';
import { Sentence } from './sentence.tsx';
import { kindOf, NEXT_KINDS, Sign } from './sign.tsx';
import { Clock, Link, Time } from './text.tsx';

/** Things that happen at known times. */
export function NextList({ items, isLong = false }: { items: readonly NextItem[]; isLong?: boolean }): VNode {
  return (
    <ol class="next">
      {items.map((item) => {
        const kind = kindOf(NEXT_KINDS, item.kind);
        return (
          <li key={`${item.kind} ${item.at} ${item.text}`}>
            <Sign name={kind.sign} tone={kind.tone} />
            <span class="main">
              <span class="unseen">{kind.word}: </span>
              <Sentence text={splitReason(item.text)[0]} />
              {item.module !== '' && (isLong || !item.text.includes(item.module)) && (
                <>
                  {' '}
                  <Link to={pathToModule(item.module)}>{item.module}</Link>
                </>
              )}
              {item.crontab !== '' && isLong && <code class="dim"> {item.crontab}</code>}
              {isLong && splitReason(item.text)[1] !== '' && (
                <span class={kind.tone === 'bad' ? 'error short' : 'detail dim'}>
                  {splitReason(item.text)[1]}
                </span>
              )}
            </span>
            <span class="when">
              <Time at={item.at} kind="until" />
              {isLong && (
                <span class="dim">
                  <Clock at={item.at} />
                </span>
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
