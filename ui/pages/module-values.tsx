/** The tab "Values" of a module: every leaf of the merged values with its origin, and the patches of hooks. */

import type { VNode } from 'preact';
import { changes } from '../lib/live.ts';
import { pathTo } from '../lib/places.ts';
import type { LayeredValue, PatchesResponse, ValuesResponse } from '../lib/responses.ts';
import { location } from '../lib/site.ts';
import { useResponse } from '../lib/use-response.ts';
import { TextFilter } from '../parts/filter.tsx';
import { jsonText } from '../parts/json-text.ts';
import { Shown } from '../parts/response.tsx';
import { Card, Empty } from '../parts/text.tsx';

/** Names of layers for people. */
const LAYERS: Readonly<Record<LayeredValue['layer'], string>> = {
  hook: 'hook',
  'config-map': 'ConfigMap',
  files: 'values.yaml',
  default: 'default',
};

/** The merged values, each with the layer that decides, and what weaker layers have. */
export function ValuesTab({ name }: { name: string }): VNode {
  const values = useResponse<ValuesResponse>(pathTo(['modules', name, 'values']), changes.value);
  const patches = useResponse<PatchesResponse>(pathTo(['modules', name, 'patches']), changes.value);
  const text = (location.value.query.get('q') ?? '').toLowerCase();
  return (
    <>
      <div class="filters">
        <TextFilter name="q" label="Key or value" />
      </div>
      <Shown responded={values}>
        {({ sections }) =>
          sections.map((section) => (
            <Card key={section.name} title={`${section.name} values`}>
              <ValuesTable
                caption={`Values of ${section.name}`}
                values={section.values.filter(({ pointer, value }) =>
                  `${pointer} ${JSON.stringify(value)}`.toLowerCase().includes(text),
                )}
              />
            </Card>
          ))
        }
      </Shown>
      <Shown responded={patches}>{({ sections }) => <Patches sections={sections} />}</Shown>
    </>
  );
}

/** One row for each leaf; values that are overridden follow in small print. */
function ValuesTable({ values, caption }: { values: readonly LayeredValue[]; caption: string }): VNode {
  if (values.length === 0) return <Empty>No values.</Empty>;
  return (
    <table class="values">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Value</th>
          <th scope="col">From</th>
        </tr>
      </thead>
      <tbody>
        {values.map(({ pointer, value, layer, hook, below }) => (
          <tr key={pointer}>
            <th scope="row">
              <code>{keyOf(pointer)}</code>
            </th>
            <td>
              <code class="value">{jsonText(value)}</code>
              {below.map((weaker) => (
                <p key={weaker.layer} class="dim weaker">
                  instead of <code>{jsonText(weaker.value)}</code> from {LAYERS[weaker.layer]}
                </p>
              ))}
            </td>
            <td>
              {LAYERS[layer]}
              {hook !== '' && <p class="dim">{hook}</p>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `/a/b~1c` as `a.b/c`. */
function keyOf(pointer: string): string {
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}

/** Operations of hooks that are kept in memory; nothing if there are none. */
function Patches({ sections }: { sections: PatchesResponse['sections'] }): VNode | null {
  const patches = sections.flatMap((section) => section.patches);
  if (patches.length === 0) return null;
  return (
    <Card title="What hooks changed">
      <table class="values">
        <caption class="unseen">Operations of hooks on values</caption>
        <thead>
          <tr>
            <th scope="col">Path</th>
            <th scope="col">Value</th>
            <th scope="col">Hook</th>
          </tr>
        </thead>
        <tbody>
          {patches.map(({ hook, op, path, value }) => (
            <tr key={`${op} ${path}`}>
              <th scope="row">
                <code>{path}</code>
              </th>
              <td>
                {op === 'remove' ? (
                  <span class="dim">removed</span>
                ) : (
                  <code class="value">{jsonText(value)}</code>
                )}
              </td>
              <td>{hook}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
