import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../checks/checkout.ts';

/** One fenced block of a page; one with a name is below the comment `<!-- sample: name -->`. */
export interface PageSample {
  readonly page: string;
  readonly name: string | undefined;
  readonly language: string;
  readonly text: string;
}

/** The pages whose samples a test produces or uses. */
export const SAMPLE_PAGES: readonly string[] = [
  'docs/hooks.md',
  'docs/old-hooks.md',
  'docs/admission.md',
  'docs/conversions.md',
  'docs/deploy-hooks.md',
  'docs/lifecycle.md',
  'docs/values.md',
  ...readdirSync(join(projectRoot, 'docs/hooks')).map((name) => `docs/hooks/${name}`),
];

const FENCE = /^(?:<!-- sample: ([a-z0-9-]+) -->\n)?```(\w+)\n([^]*?)^```$/gm;

/** Every fenced block of a page, in order. */
export function samplesOf(page: string): readonly PageSample[] {
  return [...textOf(page).matchAll(FENCE)].map(([, name, language = '', text = '']) => ({
    page,
    name,
    language,
    text,
  }));
}

/** The text of the sample of that name, wherever it is. */
export function sampleNamed(name: string): string {
  const sample = SAMPLE_PAGES.flatMap(samplesOf).find((candidate) => candidate.name === name);
  if (sample === undefined) throw new Error(`no page has a sample ${name}`);
  return sample.text;
}

/** Writes another text into the place of a sample. */
export function replaceSample(name: string, text: string): void {
  for (const page of SAMPLE_PAGES) {
    const before = textOf(page);
    const after = before.replace(FENCE, (block, found: string | undefined, language: string) =>
      found === name ? `<!-- sample: ${name} -->\n\`\`\`${language}\n${text}\`\`\`` : block,
    );
    if (after !== before) writeFileSync(join(projectRoot, page), after);
  }
}

function textOf(page: string): string {
  return readFileSync(join(projectRoot, page), 'utf8');
}
