/** Renders the modules as a graph for `dot`, for `GET /graph?format=text`. */

import type { GraphModule } from '../status/daemon-view.ts';

/**
 * The modules as a graph in the DOT language: a box for each module with its status, boxes of the same order number
 * together, an arrow to every module that is required, dashed where that is optional.
 *
 * @param modules in run order
 */
export function moduleGraph(modules: readonly GraphModule[]): string {
  const orders = Map.groupBy(modules, ({ order }) => order);
  const groups = [...orders].toSorted(([a], [b]) => a - b).map(([order, group]) => cluster(order, group));
  const arrows = modules.flatMap((module) =>
    module.requires.map(
      ({ name, isOptional }) =>
        `  ${quoted(module.name)} -> ${quoted(name)}${isOptional ? ' [style=dashed]' : ''};\n`,
    ),
  );
  return `digraph modules {\n  rankdir=LR;\n  node [shape=box];\n${groups.join('')}${arrows.join('')}}\n`;
}

function cluster(order: number, modules: readonly GraphModule[]): string {
  const boxes = modules.map(({ name, status }) => {
    const look = status === 'disabled' ? ', style=dashed' : '';
    return `    ${quoted(name)} [label=${quoted(`${name}\n${status}`)}${look}];\n`;
  });
  return `  subgraph ${quoted(`cluster_${order}`)} {\n    label=${quoted(`order ${order}`)};\n${boxes.join('')}  }\n`;
}

/** A string literal of the DOT language. */
function quoted(content: string): string {
  return `"${content.replaceAll('\\', '\\\\').replaceAll('"', String.raw`\"`).replaceAll('\n', String.raw`\n`)}"`;
}
