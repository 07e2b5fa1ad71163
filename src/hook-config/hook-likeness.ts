/*
 * A guess for a warning: files in a hooks directory that were probably meant to be hooks but are not executable. It is
 * conservative, because a wrong warning is worse than none.
 */

/** A file in a directory of hooks. */
export interface HooksFile {
  readonly path: string;
  /** Its beginning is enough; empty if it cannot be read. */
  readonly text: string;
}

/** Sources that are compiled, what tools generate, and tests. */
const SOURCE =
  /\.(?:c|cc|cpp|d\.ts|go|h|java|mod|pyc|rs|sum|toml)$|[._](?:test|spec)(?:\.\w+)?$|^test_\w+\.py$/;
const SCRIPT_ENDINGS = new Set(['.js', '.mjs', '.mts', '.ts']);

/**
 * Whether a file that is neither executable nor an in-process hook was probably meant to be a hook: it begins with `#!`, or has the
 * ending of another hook. Sources, tests, and files that hooks import are not: to make them executable would break them.
 */
export function looksLikeHook({ path, text }: HooksFile, hooks: readonly HooksFile[]): boolean {
  if (SOURCE.test(nameOf(path)) || hooks.some((hook) => imports(hook.text, path))) return false;
  const ending = endingOf(path);
  return text.startsWith('#!') || (ending !== '' && hooks.some((hook) => endingOf(hook.path) === ending));
}

/** Whether a hook names the file in a path, in quotes or in an import of Python. */
function imports(text: string, path: string): boolean {
  const name = nameOf(path);
  const dot = name.lastIndexOf('.');
  const [whole, stem] = [literal(name), literal(dot < 0 ? name : name.slice(0, dot))];
  const named = dot < 0 ? `/${whole}(?![\\w.-])` : `(?<![\\w.-])${whole}(?![\\w-])`;
  const quoted = `['"/\`]${stem}['"\`]`;
  const ofPython = `\\b(?:from|import)\\b[^\\n]*\\b${stem}\\b`;
  return new RegExp(`${named}|${quoted}|${ofPython}`).test(text);
}

/** Escapes a string for a regular expression. */
function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

/** Scripts of TypeScript and JavaScript have one ending in common; empty without one. */
function endingOf(path: string): string {
  const ending = /[^.]\.[^.]+$/.exec(nameOf(path))?.[0].slice(1) ?? '';
  return SCRIPT_ENDINGS.has(ending) ? '.ts' : ending;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
