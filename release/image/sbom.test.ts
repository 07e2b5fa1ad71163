import { expect, test } from 'vitest';
import { imageBom, lockedComponents, parseDpkgStatus } from './sbom.ts';

const STATUS = `Package: jq
Status: install ok installed
Architecture: amd64
Version: 1.8.2-1
Description: a processor
 with a second line

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1.0

Package: zlib1g
Status: install ok installed
Architecture: amd64
Version: 1:1.3.dfsg+really1.3.1-1+b1
`;

test('packages that are installed are read from the status of dpkg', () => {
  expect(parseDpkgStatus(STATUS)).toEqual([
    { name: 'jq', version: '1.8.2-1', architecture: 'amd64' },
    { name: 'zlib1g', version: '1:1.3.dfsg+really1.3.1-1+b1', architecture: 'amd64' },
  ]);
});

test('the list holds packages of npm and Debian and programs, and is the same for the same content', () => {
  const npm = (serialNumber: string) => ({
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    serialNumber,
    metadata: { timestamp: serialNumber, component: { type: 'library', name: 'app', version: '1' } },
    components: [{ type: 'library', name: 'pino', version: '10.0.0', purl: 'pkg:npm/pino@10.0.0' }],
  });
  const bom = imageBom(npm('a'), parseDpkgStatus(STATUS), { helm: '4.1.4' });
  expect(bom.components?.map(({ purl }) => purl)).toEqual([
    'pkg:generic/helm@4.1.4',
    'pkg:deb/debian/jq@1.8.2-1?arch=amd64',
    'pkg:npm/pino@10.0.0',
    'pkg:deb/debian/zlib1g@1%3A1.3.dfsg%2Breally1.3.1-1%2Bb1?arch=amd64',
  ]);
  expect(JSON.stringify(bom)).toBe(
    JSON.stringify(imageBom(npm('b'), parseDpkgStatus(STATUS), { helm: '4.1.4' })),
  );
});

test('packages that npm leaves out are taken from the lock file, without development tools and links', () => {
  const locked = lockedComponents({
    packages: {
      '': { version: '1.0.0' },
      'packages/base': { version: '1.0.0' },
      'node_modules/base': { link: true },
      'node_modules/vitest': { version: '5.0.0', dev: true },
      'node_modules/pino': { version: '10.0.0' },
      'node_modules/a/node_modules/@scope/b': { version: '2.0.0' },
    },
  });
  expect(locked.map(({ purl }) => purl)).toEqual(['pkg:npm/pino@10.0.0', 'pkg:npm/%40scope/b@2.0.0']);
  const npm = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, components: locked.slice(0, 1) };
  expect(imageBom(npm, [], {}, locked).components).toHaveLength(2);
});
