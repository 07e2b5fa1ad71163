import type { DiffLine } from './line-diff.ts';
import type { ObjectChange } from './manifest-changes.ts';

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

/** Changes as a unified diff without line numbers, for people and tools that colour diffs. */
export function changeText(changes: readonly ObjectChange[]): string {
  return changes
    .map(({ change, object, lines }) => {
      const before = change === 'create' ? '/dev/null' : `cluster/${object}`;
      const after = change === 'delete' ? '/dev/null' : `rendered/${object}`;
      return [`--- ${before}`, `+++ ${after}`, ...lines.map(lineText)].map((line) => `${line}\n`).join('');
    })
    .join('');
}

function lineText(line: DiffLine): string {
  return line.type === 'gap' ? `@@ ${line.lines} equal @@` : `${SIGNS[line.type]}${line.text}`;
}
