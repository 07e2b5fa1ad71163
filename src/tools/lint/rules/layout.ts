import { didYouMean } from '@addon-operator/json/similar-word';
import { looksLikeHook } from '../../../hook-config/hook-likeness.ts';
import { parseHelmIgnore } from '../helm-ignore.ts';
import { type FileFacts, type LintFacts, textAt } from '../lint-facts.ts';
import type { Found, Rule } from '../rule.ts';

const KNOWN_AT_TOP = [
  'CHANGELOG.md',
  'Chart.lock',
  'Chart.yaml',
  'LICENSE',
  'README.md',
  'charts',
  'crds',
  'docs',
  'enabled',
  'files',
  'hooks',
  'images',
  'lib',
  'module.yaml',
  'openapi',
  'package-lock.json',
  'package.json',
  'templates',
  'test',
  'tests',
  'tsconfig.json',
  'values.schema.json',
  'values.yaml',
];
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 20_000;
const BYTE_ORDER_MARK = '\u{FEFF}';
/** What hooks source, and programs for jq. */
const LIBRARY = /^hooks\/.*\.(?:sh|bash|jq)$/;
/** A variable may have such a name. */
const REMOVED_FROM_JQ =
  /(?<![\w$.-]|--(?:arg|argjson|slurpfile|rawfile) )(?:--argfile|leaf_paths|recurse_down)\b/g;
/** Files that the operator does not use as hooks, regardless of their content, outside of directories that it skips. */
const SKIPPED =
  /^hooks\/(?:(?!lib\/|venv\/|\.)[^/]+\/)*(?:\.(?!gitkeep$|gitignore$)[^/]*|[^/]*(?<!\.http)\.yaml|[^/]*\.(?:json|md|txt))$/;

/** Rules about the files of a module. */
export const LAYOUT_RULES: readonly Rule[] = [
  {
    code: 'module-name',
    level: 'error',
    summary: 'The name of the directory is that of a module.',
    explanation:
      'A module is named in kebab-case, such as `030-web-shop`, and the name can be restored from its key in values (`webShop`). The operator does not start with any other name. Rename the directory.',
  },
  {
    code: 'number-missing',
    level: 'warning',
    summary: 'The name of the directory begins with a number, or module.yaml has a weight.',
    explanation:
      'The number decides when a module runs. Modules without one run together, after all others or where a setting puts them. Rename the directory, such as to `030-web`.',
    check: function* ({ directoryName, parsed }) {
      if (!/^\d+-/.test(directoryName) && parsed.module?.manifest.weight === undefined)
        yield {
          path: '',
          message: `${directoryName} has no number, so the setting for unnumbered modules decides when it runs: rename it, such as to 030-${directoryName}`,
        };
    },
  },
  {
    code: 'unknown-file',
    level: 'warning',
    summary: 'Files and directories at the top of a module have known names.',
    explanation:
      'A directory `template/` or a file `value.yaml` is ignored silently. Files that templates read with `.Files` are known. Rename the file, or exclude it with the reason why it is there.',
    check: unknownFiles,
  },
  {
    code: 'hook-not-executable',
    level: 'error',
    summary: 'A script below hooks/ is executable.',
    explanation:
      'The operator runs executable files only, and ignores this one. `--fix` makes it executable. Put shared code into a directory named `lib`.',
    check: (module) =>
      hookLike(module)
        .filter(({ text = '' }) => hasShebang(text))
        .map(({ path }) => ({
          path,
          message: 'is a script, but not executable, so it is never run: chmod +x',
          fix: { type: 'make-executable' as const },
        })),
  },
  {
    code: 'hook-ignored',
    level: 'warning',
    summary: 'What looks like a hook below hooks/ is a hook.',
    explanation:
      'Names that begin with a dot, the endings `.yaml`, `.json`, `.md` and `.txt`, and directories named `lib` or `venv` are skipped; a TypeScript or JavaScript file that is not executable is a hook only if it exports the result of `defineHook`. A file looks like a hook if it is executable, begins with `#!`, or has the ending of another hook; sources, tests and files that hooks import do not. Rename the file, or move shared code to `lib/`.',
    check: (module) => [
      ...module.files
        .filter(({ path, type }) => type === 'file' && SKIPPED.test(path))
        .filter(({ isExecutable, text = '' }) => isExecutable || hasShebang(text))
        .map(({ path }) => ({
          path,
          message: 'is never run, because files with such a name are skipped: rename it',
        })),
      ...hookLike(module)
        .filter(({ text = '' }) => !hasShebang(text))
        .map(({ path }) => ({
          path,
          message:
            'is neither executable nor an in-process hook, so it is never run: move shared code to lib/',
        })),
    ],
  },
  {
    code: 'script-text',
    level: 'error',
    summary: 'A script has Unix line ends and no byte order mark.',
    explanation:
      'With a carriage return behind `#!/bin/sh`, or a byte order mark before it, the system finds no program to run the script. `--fix` removes both.',
    check: ({ files }) =>
      scripts(files)
        .filter(({ text = '' }) => text.startsWith(BYTE_ORDER_MARK) || text.split('\n', 1)[0]?.endsWith('\r'))
        .map(({ path, text = '' }) => ({
          path,
          message: text.startsWith(BYTE_ORDER_MARK)
            ? 'begins with a byte order mark, so it cannot be run'
            : 'has DOS line ends, so it cannot be run',
          fix: { type: 'unix-text' as const },
        })),
  },
  {
    code: 'shebang',
    level: 'warning',
    summary: 'A script begins with #! and an absolute path.',
    explanation:
      'Without such a line the system refuses to run the script, or the shell that runs it depends on the caller. Write `#!/usr/bin/env bash`, or the path of another interpreter.',
    check: ({ files, parsed }) =>
      files
        .filter(
          ({ path, isExecutable }) => isExecutable && (path === 'enabled' || parsed.hookFiles.includes(path)),
        )
        .filter(({ text }) => text !== undefined && !/^\u{FEFF}?#!\s*\//u.test(text))
        .map(({ path }) => ({
          path,
          message:
            'is an executable text without #! and an absolute path in its first line: write #!/usr/bin/env bash, or the like',
        })),
  },
  {
    code: 'jq-removed',
    level: 'warning',
    summary: 'A script uses what jq 1.8 has.',
    explanation:
      'The image has jq 1.8. It has no option `--argfile` (use `--slurpfile`, which gives an array), and no functions `leaf_paths` (use `paths(scalars)`) and `recurse_down` (use `recurse`).',
    check: ({ files }) =>
      files
        .filter(({ path, text = '' }) => isScript(path, text) || LIBRARY.test(path))
        .filter(({ path, text = '' }) => path.endsWith('.jq') || /\bjq\b/.test(text))
        .flatMap(({ path, text = '' }) =>
          text.split('\n').flatMap((line, index) =>
            [...line.replace(/^\s*#.*/, '').matchAll(REMOVED_FROM_JQ)].map(([name]) => ({
              path,
              message: `line ${index + 1} uses ${name}, which jq 1.8 of the image does not have`,
            })),
          ),
        ),
  },
  {
    code: 'link-leads-out',
    level: 'error',
    summary: 'Links stay inside of the module.',
    explanation:
      'A link to a file elsewhere would have the operator read, run or deploy what is not part of the module, so it does not start. Copy the file, or set `--allow-links-outside`.',
  },
  {
    code: 'too-big',
    level: 'error',
    summary: 'A module has at most 256 MiB and 20,000 files.',
    explanation:
      'Each start reads all files, and authorization copies them. Move binaries to an image, and data to where it is needed.',
    check: function* ({ files }) {
      const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      if (bytes > MAX_BYTES || files.length > MAX_FILES)
        yield { path: '', message: `has ${files.length} files with ${Math.round(bytes / 1024 / 1024)} MiB` };
    },
  },
  {
    code: 'helmignore-hides-templates',
    level: 'error',
    summary: 'No pattern of .helmignore matches a template.',
    explanation:
      'Helm does not render a template that `.helmignore` matches, and says nothing. A pattern behind `!` makes helm ignore everything that it does not match. Remove the pattern.',
    check: hiddenTemplates,
  },
];

function* unknownFiles({ files }: LintFacts): Iterable<Found> {
  const templates = files.filter(({ path }) => path.startsWith('templates/')).map(({ text = '' }) => text);
  for (const { path } of files) {
    if (path.includes('/') || path.startsWith('.') || KNOWN_AT_TOP.includes(path)) continue;
    if (/^(?:LICENSE|NOTICE|OWNERS)|\.md$/.test(path)) continue;
    if (templates.some((text) => text.includes(path))) continue;
    yield { path, message: `is not used by the operator${didYouMean(path, KNOWN_AT_TOP)}` };
  }
}

function* hiddenTemplates({ files, parsed }: LintFacts): Iterable<Found> {
  // The file counts for charts only: the operator makes a chart of bare templates without it.
  if (parsed.module?.chart !== 'chart-yaml') return;
  const ignored = parseHelmIgnore(textAt(files, '.helmignore'));
  for (const { path, type } of files)
    if (type === 'file' && path.startsWith('templates/') && ignored(path, false))
      yield { path: '.helmignore', message: `leaves out ${path}, so helm does not render it` };
}

/** Files that are no hooks, but were probably meant to be, as the operator decides it. */
function hookLike({ files, parsed: { unusedFiles, hookFiles } }: LintFacts): readonly FileFacts[] {
  const hooks = hookFiles.map((path) => ({ path, text: textAt(files, path) }));
  return files.filter(
    ({ path, text = '' }) => unusedFiles.includes(path) && looksLikeHook({ path, text }, hooks),
  );
}

function hasShebang(text: string): boolean {
  return text.startsWith('#!') || text.startsWith(`${BYTE_ORDER_MARK}#!`);
}

function scripts(files: readonly FileFacts[]): readonly FileFacts[] {
  return files.filter(({ path, text = '' }) => isScript(path, text));
}

function isScript(path: string, text: string): boolean {
  return (path === 'enabled' || path.startsWith('hooks/')) && hasShebang(text);
}
