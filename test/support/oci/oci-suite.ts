import { describe } from 'vitest';
import { reasonAgainstRegistries } from './oci-programs.ts';

const found = await reasonAgainstRegistries(process.env);
if (found !== undefined) console.warn(`tests with registries are skipped: ${found}`);

/**
 * Tests that start registries and their clients (`FaultRegistry`, `DistributionRegistry`, `crane`, `oras`): skipped by name
 * without Go, which `REQUIRE_CLUSTER=1` makes an error.
 */
export function describeRegistries(name: string, suite: () => void): void {
  if (found !== undefined && process.env['REQUIRE_CLUSTER'] === '1') {
    throw new Error(`REQUIRE_CLUSTER=1, but there are no registries: ${found}`);
  }
  const options = { skip: found !== undefined };
  // oxlint-disable-next-line vitest/valid-title -- the title is the caller's
  describe(name, options, () => {
    suite();
  });
}
