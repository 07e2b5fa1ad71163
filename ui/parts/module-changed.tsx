/** What changed since a failing module last ran well. */

import type { VNode } from 'preact';
import { pathTo } from '../lib/places.ts';
import type { ModuleExplanation } from '../lib/responses.ts';
import { Card, Link, Time } from './text.tsx';

type Changed = NonNullable<ModuleExplanation['changed']>;

/** Nothing where no good run is known: there is nothing to compare with. */
export function ChangedCard({ changed }: { changed: Changed | undefined }): VNode | null {
  if (changed === undefined || changed.since === null || changed.run === null) return null;
  return (
    <Card
      title="What changed since it was well"
      more={
        <Link to={pathTo(['runs', changed.run])}>
          last good run <Time at={changed.since} />
        </Link>
      }
    >
      <Changes changed={changed} />
    </Card>
  );
}

function Changes({ changed: { version, files, values, moreValues, objects } }: { changed: Changed }): VNode {
  const isSame = version === null && files === null && values.length + objects.length === 0;
  if (isSame)
    return (
      <p>
        Its version, files and values are the same, and no changed object is known. The cause is outside of
        the module, such as a service that it calls.
      </p>
    );
  return (
    <table class="values">
      <caption class="unseen">What changed since the last good run</caption>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Then</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {version !== null && <Row what="version" then={version.before} now={version.now} />}
        {files !== null && <Row what="files of the module" then={files.before} now={files.now} />}
        {values.map(({ section, pointer, source, before, now }) => (
          <Row key={section + pointer} what={section + pointer} by={source} then={before} now={now} />
        ))}
        {objects.map(({ resource, changedBy, since, fields }) => (
          <tr key={resource}>
            <th scope="row">
              <code>{resource}</code>
              <p class="dim small-text">by {changedBy.join(', ')}</p>
            </th>
            <td colSpan={2}>
              changed <Time at={since} />: <code>{fields.join(', ')}</code>
            </td>
          </tr>
        ))}
        {moreValues > 0 && (
          <tr>
            <td colSpan={3}>and {moreValues} more values</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** @param by the layer or hook that set a value */
function Row({ what, by, then, now }: { what: string; by?: string; then: string; now: string }): VNode {
  return (
    <tr>
      <th scope="row">
        <code>{what}</code>
        {by !== undefined && <p class="dim small-text">set by {by}</p>}
      </th>
      <td>{then === '' ? 'none' : <code>{then}</code>}</td>
      <td>{now === '' ? 'none' : <code>{now}</code>}</td>
    </tr>
  );
}
