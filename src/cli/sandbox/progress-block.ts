import { escapeControls } from '@addon-operator/strings/escape-controls';
import { headlineOf } from '@addon-operator/strings/headline';
import { cut, type Paint, type Style } from '../output/paint.ts';
import type { ModuleProgress, Progress } from './progress-state.ts';

export interface BlockOptions {
  /** Columns and rows of the terminal. */
  readonly width: number;
  readonly height: number;
  readonly elapsedMs: number;
  /** Sentences about hooks that run for long. */
  readonly longHooks: readonly string[];
  /** The status of the operator, if it needs a person. */
  readonly problem: string | undefined;
  readonly paint: Paint;
}

/** The progress as lines that fit a terminal: a head line, then one for each hook that runs for long, and for each module. */
export function progressBlock(progress: Progress, options: BlockOptions): readonly string[] {
  const { width, height, elapsedMs, longHooks, problem, paint } = options;
  const head = `${(elapsedMs / 1_000).toFixed(0)} s  ${problem ?? progress.phase}`;
  const names = [...progress.modules.keys()];
  const nameWidth = Math.max(0, ...names.map((name) => name.length));
  const rows = [...progress.modules].map(([name, module]) => {
    const { style, text } = describe(module);
    const label = cut(`  ${name.padEnd(nameWidth)}  `, width - 1);
    return `${label}${paint(style, cut(escapeControls(text), width - 1 - label.length))}`;
  });
  const hooks = longHooks.map((text) => paint('yellow', cut(`  ${escapeControls(text)}`, width - 1)));
  const room = Math.max(1, height - 2 - hooks.length);
  const shown =
    rows.length <= room ? rows : [...rows.slice(0, room - 1), `  … and ${rows.length - room + 1} more`];
  return [paint('bold', cut(escapeControls(head), width - 1)), ...hooks.slice(0, height - 3), ...shown];
}

function describe(module: ModuleProgress): { readonly style: Style; readonly text: string } {
  switch (module.type) {
    case 'waiting':
      return { style: 'dim', text: 'waiting' };
    case 'hook':
      return { style: 'cyan', text: `running ${module.hook}` };
    case 'helm':
      return { style: 'cyan', text: 'running helm' };
    case 'ready':
      return { style: 'green', text: 'ready' };
    case 'failed': {
      // The row is short, and the hook says which binding it was.
      const error = headlineOf(module.error)
        .trim()
        .replace(/^run hooks by binding \w+: (?=\S)/, '');
      const reason = error.split('\n')[0] ?? '';
      return { style: 'red', text: `failed ${module.failures}x: ${reason}` };
    }
  }
}
