/** The tab "Objects" of a module: the objects of its release as they are in the cluster. It reads only while it is seen. */

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { pathTo } from '../lib/places.ts';
import type { ObjectsResponse } from '../lib/responses.ts';
import { useResponse } from '../lib/use-response.ts';
import { counted } from '../parts/names.ts';
import { Shown } from '../parts/response.tsx';
import { Badge, kindOf, OBJECT_KINDS } from '../parts/sign.tsx';
import { Card, Empty, Time } from '../parts/text.tsx';

type ObjectView = ObjectsResponse['objects'][number];

/** Each reading is a request for each kind. */
const READ_AGAIN_MS = 10_000;

export function ObjectsTab({ name }: { name: string }): VNode {
  const responded = useResponse<ObjectsResponse>(pathTo(['modules', name, 'objects']), useTurns());
  return (
    <Shown responded={responded}>
      {({ objects, eventsProblem }) =>
        objects.length === 0 ? (
          <Empty>The module has no release, or its release has no objects.</Empty>
        ) : (
          <Card
            title={counted(objects.length, 'object')}
            more={eventsProblem === '' ? undefined : <span class="dim">{eventsProblem}</span>}
          >
            <ObjectsTable objects={objects} />
          </Card>
        )
      }
    </Shown>
  );
}

/** Counts the times at which to read again; a page in the background does not. */
function useTurns(): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setTurn((last) => last + 1);
    }, READ_AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  return turn;
}

function ObjectsTable({ objects }: { objects: readonly ObjectView[] }): VNode {
  return (
    <table class="list">
      <caption class="unseen">Objects of the release, problems first</caption>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Object</th>
          <th scope="col" class="wide">
            Namespace
          </th>
          <th scope="col" class="number wide">
            Created
          </th>
        </tr>
      </thead>
      <tbody>
        {objects.map((object) => (
          <ObjectRow
            key={`${object.apiVersion} ${object.kind} ${object.namespace}/${object.name}`}
            object={object}
          />
        ))}
      </tbody>
    </table>
  );
}

function ObjectRow({ object }: { object: ObjectView }): VNode {
  const { kind, name, namespace, state, reason, createdAt, drift, events, logs, describe } = object;
  return (
    <tr>
      <td>
        <Badge kind={kindOf(OBJECT_KINDS, state)} />
      </td>
      <td class="main">
        {kind} <strong>{name}</strong>
        {namespace !== '' && <span class="narrow dim">in {namespace}</span>}
        {reason !== '' && <p class="small-text">{reason}</p>}
        {drift.length > 0 && (
          <p class="small-text">
            changed by others: <code>{drift.join(', ')}</code>
          </p>
        )}
        <details class="small-text">
          <summary>
            commands{events.length > 0 && ` and ${counted(events.length, 'event')} of the last hour`}
          </summary>
          <ul class="waits">
            {events.map(({ at, type, reason: word, message, count }) => (
              <li key={at + word}>
                {type === 'Warning' && <strong>Warning </strong>}
                {word}: {message} {count > 1 && `(${count} times) `}
                <Time at={at} />
              </li>
            ))}
          </ul>
          {[logs, describe].filter(Boolean).map((command) => (
            <Command key={command} text={command} />
          ))}
        </details>
      </td>
      <td class="wide short dim">{namespace}</td>
      <td class="number wide">{createdAt !== null && <Time at={createdAt} />}</td>
    </tr>
  );
}

/** A command to copy; without a secure context a browser has no clipboard, and it is selected by hand. */
function Command({ text }: { text: string }): VNode {
  return (
    <p class="row start">
      <code>{text}</code>
      {'clipboard' in navigator && (
        <button
          type="button"
          class="small"
          aria-label={`Copy ${text}`}
          onClick={() => void navigator.clipboard.writeText(text).catch(() => undefined)}
        >
          Copy
        </button>
      )}
    </p>
  );
}
