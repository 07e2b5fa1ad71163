import { expect, test } from 'vitest';
import { readCheckoutFile } from './test-lists.ts';

interface LockedPackage {
  /** A package of this repository, in node_modules as a link. */
  readonly link?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
}

/**
 * What npm would install without comparing it with a hash, or from elsewhere than the registry. Builds of development tools
 * for other systems may lack the hash: npm adds it where they can be fetched.
 */
function unpinned(packages: Readonly<Record<string, LockedPackage>>): string[] {
  return Object.entries(packages)
    .filter(([path, one]) => path.startsWith('node_modules/') && !isToolOfSystem(one))
    .filter(([, one]) => one.link !== true && !isPinned(one))
    .map(([path]) => path);
}

function isToolOfSystem({ dev = false, optional = false, os = [] }: LockedPackage): boolean {
  return dev && optional && os.length > 0;
}

function isPinned({ resolved = '', integrity = '' }: LockedPackage): boolean {
  const isFromRegistry =
    resolved === '' || /^https:\/\/[^/]+\/(?:@[^/]+\/)?[^/]+\/-\/[^/]+\.tgz$/.test(resolved);
  return isFromRegistry && integrity.startsWith('sha512-');
}

test('npm runs no scripts of packages, here and in the image', async () => {
  expect((await readCheckoutFile('.npmrc')).split('\n')).toContain('ignore-scripts=true');
  const dockerfile = await readCheckoutFile('Dockerfile');
  const copied = dockerfile.indexOf('.npmrc ./');
  expect(copied).toBeGreaterThan(-1);
  expect(dockerfile.indexOf('npm ')).toBeGreaterThan(copied);
});

test('every package is pinned by its hash and comes from the registry', async () => {
  const lock = JSON.parse(await readCheckoutFile('package-lock.json')) as {
    packages: Record<string, LockedPackage>;
  };
  expect(Object.keys(lock.packages).length).toBeGreaterThan(100);
  expect(unpinned(lock.packages)).toEqual([]);
});

test('a package from another source, or without a hash, is reported', () => {
  const integrity = 'sha512-AAAA';
  const packages = {
    'node_modules/good': { resolved: 'https://registry.example/good/-/good-1.0.0.tgz', integrity },
    'node_modules/from-git': { resolved: 'git+ssh://git@host.example/a/b.git#1234', integrity },
    'node_modules/bare': { resolved: 'https://registry.example/bare/-/bare-1.0.0.tgz' },
  };
  expect(unpinned(packages)).toEqual(['node_modules/from-git', 'node_modules/bare']);
});
