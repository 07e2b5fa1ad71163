/** Lays out the graph of modules with dagre. It is loaded on demand, because the library is large. */

import { Graph, layout } from '@dagrejs/dagre';
import type { GraphResponse } from './responses.ts';

/** A graph with the place of everything, in pixels. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** `x` and `y` are of the upper left corner; `label` is a name that fits. */
  readonly nodes: readonly {
    readonly name: string;
    readonly label: string;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }[];
  readonly edges: readonly {
    readonly id: string;
    readonly path: string;
    /** The point of the arrow. */
    readonly head: string;
    readonly isOptional: boolean;
  }[];
}

/** Two lines of text: name and status. */
const HEIGHT = 46;
const MARGIN = 8;
const MAX_LABEL = 28;

/** Places modules from left to right, those that require nothing first. Modules without requirements are left out. */
export function drawGraph(edges: GraphResponse['edges']): Drawing {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 56, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const name of new Set(edges.flatMap(({ from, to }) => [to, from])))
    graph.setNode(name, { width: Math.max(110, labelOf(name).length * 8.5 + 24), height: HEIGHT });
  // From the requirement to the module that needs it: the order in which they run.
  for (const { from, to } of edges) graph.setEdge(to, from);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: (graph.nodes() as string[]).map((name) => {
      const { x = 0, y = 0, width = 0, height = 0 } = graph.node(name);
      return { name, label: labelOf(name), x: x - width / 2, y: y - height / 2, width, height };
    }),
    edges: edges.map(({ from, to, isOptional }) => {
      const points: readonly { x: number; y: number }[] = graph.edge(to, from).points ?? [];
      const end = points.at(-1) ?? { x: 0, y: 0 };
      return {
        id: `${to} ${from}`,
        path: points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join(''),
        head: `M${end.x} ${end.y}l-7 -4v8z`,
        isOptional,
      };
    }),
  };
}

/** A name that fits into a box. */
function labelOf(name: string): string {
  return name.length <= MAX_LABEL ? name : `${name.slice(0, MAX_LABEL - 1)}…`;
}
