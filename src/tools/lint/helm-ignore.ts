/** Whether helm leaves out a path, as a `.helmignore` says; directories above the path count too. */
export type Ignores = (path: string, isDirectory: boolean) => boolean;

interface Pattern {
  readonly isNegated: boolean;
  readonly needsDirectory: boolean;
  readonly hasSlash: boolean;
  readonly glob: RegExp;
}

/** Reads a `.helmignore`. A pattern that helm refuses matches nothing. */
export function parseHelmIgnore(text: string): Ignores {
  const patterns = text.split('\n').flatMap((line) => patternOf(line.trim()) ?? []);
  const isIgnored = (path: string, isDirectory: boolean): boolean =>
    patterns.some((pattern) => leavesOut(pattern, path, isDirectory));
  return (path, isDirectory) => {
    const parts = path.split('/');
    const above = parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'));
    return above.some((directory) => isIgnored(directory, true)) || isIgnored(path, isDirectory);
  };
}

/** A negated pattern leaves out everything that it does not match: that is how helm reads it. */
function leavesOut(pattern: Pattern, path: string, isDirectory: boolean): boolean {
  const matches = pattern.glob.test(pattern.hasSlash ? path : (path.split('/').at(-1) ?? ''));
  if (pattern.isNegated) return !matches || (pattern.needsDirectory && !isDirectory);
  return matches && (isDirectory || !pattern.needsDirectory);
}

function patternOf(line: string): Pattern | undefined {
  if (line === '' || line.startsWith('#') || line.includes('**')) return undefined;
  const isNegated = line.startsWith('!');
  const needsDirectory = line.endsWith('/');
  const body = line.slice(isNegated ? 1 : 0, needsDirectory ? -1 : undefined);
  const glob = globOf(body.replace(/^\//, ''));
  return glob === undefined ? undefined : { isNegated, needsDirectory, hasSlash: body.includes('/'), glob };
}

function globOf(glob: string): RegExp | undefined {
  const source = glob.replaceAll(/[.+^${}()|\\*?]/g, (character) => {
    if (character === '*') return '[^/]*';
    return character === '?' ? '[^/]' : `\\${character}`;
  });
  try {
    return new RegExp(`^${source}$`);
  } catch {
    return undefined;
  }
}
