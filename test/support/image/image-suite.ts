import { execa } from 'execa';
import { describe } from 'vitest';

/** Why the image cannot be built here; undefined if it can. */
async function obstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can build it';
  for (const tool of ['buildah', 'mmdebstrap']) {
    const probe = await execa(tool, ['--version'], { reject: false, stdin: 'ignore' });
    if (probe.failed)
      return `${tool} is not installed (apt-get install --no-install-recommends buildah mmdebstrap)`;
  }
  return undefined;
}

const found = await obstacle();
if (found !== undefined) {
  if (process.env['REQUIRE_CLUSTER'] === '1') throw new Error(`The image cannot be built: ${found}`);
  console.warn(`tests of the image are skipped: ${found}`);
}

/** Tests that build the image with buildah: skipped by name where that does not work, which `REQUIRE_CLUSTER=1` makes an error. */
export function describeImage(name: string, suite: () => void): void {
  const options = { skip: found !== undefined };
  // oxlint-disable-next-line vitest/valid-title
  describe(name, options, () => {
    suite();
  });
}
