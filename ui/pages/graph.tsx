/** The page "Graph": a picture, and a table with the same content for screen readers and for search. */

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Drawing } from '../lib/draw-graph.ts';
import { changes } from '../lib/live.ts';
import type { GraphResponse } from '../lib/responses.ts';
import { hrefOf } from '../lib/site.ts';
import { useResponse } from '../lib/use-response.ts';
import { pathToModule } from '../parts/names.ts';
import { Shown } from '../parts/response.tsx';
import { Badge, kindOf, MODULE_KINDS } from '../parts/sign.tsx';
import { Card, Empty, Link, Title } from '../parts/text.tsx';

/** Modules and what they require: what a failure holds up. */
export function GraphPage(): VNode {
  const responded = useResponse<GraphResponse>('graph', changes.value);
  return (
    <>
      <Title note="An arrow leads from a module to a module that requires it and runs after it.">Graph</Title>
      <Shown responded={responded}>
        {(graph) => (
          <>
            <Picture graph={graph} />
            <GraphTable graph={graph} />
          </>
        )}
      </Shown>
    </>
  );
}

/** Drawn again only when the edges change; statuses are colours and need no new layout. */
function Picture({ graph }: { graph: GraphResponse }): VNode {
  const [drawing, setDrawing] = useState<Drawing>();
  // As a string, so that an equal graph in a new response is no change.
  const shape = JSON.stringify(graph.edges);
  useEffect(() => {
    let isCurrent = true;
    const draw = async (): Promise<void> => {
      // A quarter of all code, for one page.
      const { drawGraph } = await import('../lib/draw-graph.ts');
      if (isCurrent) setDrawing(drawGraph(JSON.parse(shape) as GraphResponse['edges']));
    };
    if (shape !== '[]') void draw();
    return () => {
      isCurrent = false;
    };
  }, [shape]);
  if (graph.edges.length === 0)
    return (
      <Card title="Requirements">
        <Empty>
          No module requires another one: they run one after the other, in order of their numbers.
        </Empty>
      </Card>
    );
  if (drawing === undefined)
    return (
      <p class="empty" aria-busy="true">
        Drawing …
      </p>
    );
  const statuses = new Map(graph.nodes.map(({ name, status }) => [name, status]));
  return (
    <Card title="Requirements">
      <section
        class="scroll"
        tabIndex={0}
        aria-label="Picture of the graph; the table below has the same content"
      >
        <svg
          class="graph"
          width={drawing.width}
          height={drawing.height}
          role="group"
          aria-label="Modules and what they require"
        >
          {drawing.edges.map(({ id, path, head, isOptional }) => (
            <g key={id} class={isOptional ? 'edge optional' : 'edge'}>
              <path d={path} />
              <path class="head" d={head} />
            </g>
          ))}
          {drawing.nodes.map(({ name, x, y, width, height, label }) => {
            const status = statuses.get(name);
            const tone = status === undefined ? 'bad' : kindOf(MODULE_KINDS, status).tone;
            return (
              <a key={name} href={hrefOf(pathToModule(name))}>
                <rect class={tone} x={x} y={y} width={width} height={height} rx="8" />
                <text x={x + 12} y={y + 20}>
                  {label}
                </text>
                <text class={`small ${tone}`} x={x + 12} y={y + 36}>
                  {status ?? 'does not exist'}
                </text>
              </a>
            );
          })}
        </svg>
      </section>
    </Card>
  );
}

/** All modules, also those without requirements, which the picture leaves out. */
function GraphTable({ graph }: { graph: GraphResponse }): VNode {
  return (
    <Card title="All modules">
      <table>
        <caption class="unseen">Modules in run order with what they require</caption>
        <thead>
          <tr>
            <th scope="col">Module</th>
            <th scope="col">State</th>
            <th scope="col" class="number wide">
              Order
            </th>
            <th scope="col">Requires</th>
            <th scope="col" class="wide">
              Required by
            </th>
          </tr>
        </thead>
        <tbody>
          {graph.nodes.map(({ name, order, status }) => (
            <tr key={name}>
              <th scope="row">
                <Link class="name" to={pathToModule(name)}>
                  {name}
                </Link>
              </th>
              <td>
                <Badge kind={kindOf(MODULE_KINDS, status)} />
              </td>
              <td class="number wide">{order}</td>
              <td>
                <Names names={graph.edges.filter(({ from }) => from === name).map(({ to }) => to)} />
              </td>
              <td class="wide">
                <Names names={graph.edges.filter(({ to }) => to === name).map(({ from }) => from)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

/** One link per line. */
function Names({ names }: { names: readonly string[] }): VNode {
  return (
    <>
      {names.map((name) => (
        <div key={name}>
          <Link to={pathToModule(name)}>{name}</Link>
        </div>
      ))}
    </>
  );
}
