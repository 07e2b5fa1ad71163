import { describe } from 'vitest';
import { reasonAgainstImage } from './reason-against-image.ts';

const found = await reasonAgainstImage(process.env);
if (found !== undefined) console.warn(`tests of the image are skipped: ${found}`);

/** Tests that build the image with buildah: skipped by name where that does not work, which `REQUIRE_CLUSTER=1` makes an error. */
export function describeImage(name: string, suite: () => void): void {
  if (found !== undefined && process.env['REQUIRE_CLUSTER'] === '1') {
    throw new Error(`REQUIRE_CLUSTER=1, but the image cannot be built: ${found}`);
  }
  const options = { skip: found !== undefined };
  // oxlint-disable-next-line vitest/valid-title
  describe(name, options, () => {
    suite();
  });
}
