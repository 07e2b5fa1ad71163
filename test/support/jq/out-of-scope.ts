interface Exclusion {
  readonly reason: string;
  /** Lines of the programs, by file. */
  readonly lines: Readonly<Record<string, readonly number[]>>;
}

/** Cases of jq's own tests that the built-in engine does not pass. */
const EXCLUSIONS: readonly Exclusion[] = [
  {
    reason: 'filters have no modules',
    lines: { 'jq.test': [1900, 1904, 1908, 1912, 1917, 1921, 1925, 1929, 1969, 1973, 1977, 1993] },
  },
  {
    reason: 'filters see one object: they cannot read more input, write anything else, or see an environment',
    lines: { 'jq.test': [2337, 2341], 'man.test': [686, 690] },
  },
  {
    reason: 'have_decnum is false, as numbers are doubles, but integers keep their digits all the same',
    lines: { 'jq.test': [2014, 2196, 2200, 2204, 2224], 'man.test': [9, 13, 25] },
  },
  {
    reason: 'data may be nested some thousand levels deep, not ten thousand',
    lines: { 'jq.test': [2558, 2563, 2568, 2573, 2602, 2607, 2611, 2616, 2621, 2625, 2629, 2633] },
  },
];

/** As `TestCase.id`. */
export const OUT_OF_SCOPE: readonly string[] = EXCLUSIONS.flatMap(({ lines }) =>
  Object.entries(lines).flatMap(([file, numbers]) => numbers.map((line) => `${file}:${line}`)),
);
