import { expect, test } from 'vitest';
import { moduleGraph } from './module-graph.ts';

test('modules of one order stand together, arrows lead to what is required', () => {
  const dot = moduleGraph([
    { name: 'db', order: 10, status: 'ready', requires: [] },
    { name: 'cache', order: 10, status: 'disabled', requires: [] },
    {
      name: 'web',
      order: 20,
      status: 'starting',
      requires: [
        { name: 'db', isOptional: false },
        { name: 'cache', isOptional: true },
      ],
    },
  ]);
  expect(dot).toBe(String.raw`digraph modules {
  rankdir=LR;
  node [shape=box];
  subgraph "cluster_10" {
    label="order 10";
    "db" [label="db\nready"];
    "cache" [label="cache\ndisabled", style=dashed];
  }
  subgraph "cluster_20" {
    label="order 20";
    "web" [label="web\nstarting"];
  }
  "web" -> "db";
  "web" -> "cache" [style=dashed];
}
`);
});

test('without modules the graph is empty, and still a graph', () => {
  expect(moduleGraph([])).toBe('digraph modules {\n  rankdir=LR;\n  node [shape=box];\n}\n');
});
