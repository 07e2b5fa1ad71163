// Runs in the build stage of the image: write-sbom.ts NPM-SBOM DPKG-STATUS TOOL-VERSIONS prints one list of everything in the
// image, as CycloneDX.
import { readFileSync } from 'node:fs';
import { type Bom, imageBom, lockedComponents, parseDpkgStatus } from './sbom.ts';

const [npmFile = '', statusFile = '', versionsFile = ''] = process.argv.slice(2);
const npmBom = JSON.parse(readFileSync(npmFile, 'utf8')) as Bom;
const packages = parseDpkgStatus(readFileSync(statusFile, 'utf8'));
const tools = JSON.parse(readFileSync(versionsFile, 'utf8')) as Record<string, string>;
const locked = lockedComponents(JSON.parse(readFileSync('package-lock.json', 'utf8')));
console.log(JSON.stringify(imageBom(npmBom, packages, tools, locked), undefined, 1));
