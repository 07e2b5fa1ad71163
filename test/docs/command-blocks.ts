import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../checks/checkout.ts';

/** What is said about a block in the comment above it: `<!-- run: name -->`, `<!-- not run: why -->` and so on. */
export type Mark =
  | { readonly type: 'run' | 'output' | 'sample'; readonly name: string }
  | { readonly type: 'not run'; readonly reason: string }
  | { readonly type: 'none' };

/** A fenced block of a page that readers copy into a shell, or that shows what a command prints. */
export interface CommandBlock {
  readonly page: string;
  readonly mark: Mark;
  readonly language: string;
  readonly text: string;
}

/** The pages for users. */
export const COMMAND_PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'deploy/README.md',
  ...['docs', 'docs/hooks'].flatMap((directory) =>
    readdirSync(join(projectRoot, directory))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${directory}/${name}`),
  ),
];

const SHELLS = ['sh', 'bash', 'shell', 'console', 'zsh'];
const FENCE = /^(?:<!-- (run|not run|output|sample): (.+) -->\n)?```(\w*)\n([^]*?)^```$/gm;

/** Every block of a page that is for a shell, or is marked as output, in order. */
export function commandBlocksOf(page: string): readonly CommandBlock[] {
  const fences = readFileSync(join(projectRoot, page), 'utf8').matchAll(FENCE);
  const blocks = [...fences].map(([, kind = '', about = '', language = '', text = '']) => ({
    page,
    mark: markOf(kind, about),
    language,
    text,
  }));
  return blocks.filter(({ language, mark }) => SHELLS.includes(language) || mark.type === 'output');
}

/** The text of the commands of that name. */
export function commandsNamed(name: string): string {
  const text = textMarked('run', name);
  if (text === undefined) throw new Error(`no page has commands ${name}`);
  return text;
}

/** What the page says that the commands of that name print; undefined if it does not say. */
export function outputNamed(name: string): string | undefined {
  return textMarked('output', name);
}

function textMarked(type: 'run' | 'output', wanted: string): string | undefined {
  return COMMAND_PAGES.flatMap(commandBlocksOf).find(({ mark }) => mark.type === type && mark.name === wanted)
    ?.text;
}

function markOf(kind: string, about: string): Mark {
  switch (kind) {
    case 'run':
    case 'output':
    case 'sample':
      return { type: kind, name: about };
    case 'not run':
      return { type: kind, reason: about };
    default:
      return { type: 'none' };
  }
}
