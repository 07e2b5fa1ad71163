import { expect, test } from 'vitest';
import { sourcesIn } from './checkout.ts';

/** A doc comment that another one follows, so that it describes nothing: the declaration below it was moved away. */
const ORPHAN = /^[ \t]*\/\*\*(?:(?!\*\/)[^])*\*\/\n\s*(?=\/\*\*)/gm;

function orphansIn(source: string): readonly number[] {
  return Array.from(source.matchAll(ORPHAN), ({ index }) => source.slice(0, index).split('\n').length);
}

test('each doc comment is above a declaration', () => {
  const found = ['src', 'packages', 'ui', 'test'].flatMap((directory) =>
    [...sourcesIn(directory)]
      .filter(([file]) => !file.includes('node_modules'))
      .flatMap(([file, source]) => orphansIn(source).map((line) => `${directory}/${file}:${line}`)),
  );
  expect(found).toEqual([]);
});

test.each([
  ['/** A. */\n/** B. */\nconst b = 1;\n', [1]],
  ['class C {\n  /**\n   * A.\n   */\n\n  /** B. */\n  b = 1;\n}\n', [2]],
  ['/** A. */\nconst a = 1;\n/** B. */\nconst b = 1;\n', []],
  ["const a = '/**';\n/** B. */\nconst b = 1;\n", []],
])('in %j the lines with orphans are %j', (source, lines) => {
  expect(orphansIn(source)).toEqual(lines);
});
