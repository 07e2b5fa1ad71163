import { COMPILE_ERROR, CRASH } from './ask-jq.ts';

/** Engines that filters may meet; `original` is the one of the operator that this one replaces, as its documents describe it. */
export const ENGINES = ['built-in', 'jq 1.8', 'jq 1.6', 'original'] as const;
export type EngineName = (typeof ENGINES)[number];

/** A program that the engines answer differently. Answers as in `AskJq`. */
export interface JqDifference {
  readonly topic: string;
  readonly program: string;
  readonly input: string;
  readonly responses: Readonly<Record<EngineName, string>>;
}

/** The original cannot be run here: of its errors only that there is one is known. */
const ERROR = 'error';

/** Every difference that is known. `docs/jq.md` shows this table; that it is true of the engines at hand is a test. */
export const JQ_DIFFERENCES: readonly JqDifference[] = [
  difference('integers beyond 2^53', '.', '9007199254740993', [
    '[9007199254740993]',
    '[9007199254740993]',
    '[9007199254740992]',
    '[9007199254740993]',
  ]),
  difference('reckoning with them', '. + 2', '9007199254740993', [
    '[9007199254740994]',
    '[9007199254740994]',
    '[9007199254740994]',
    '[9007199254740995]',
  ]),
  difference('order of keys made in the program', '[{b: 1, a: 2}[]]', 'null', [
    '[[2,1]]',
    '[[1,2]]',
    '[[1,2]]',
    '[[2,1]]',
  ]),
  difference('the same as text', '{b: 1, a: 2} | tojson', 'null', [
    '["{\\"a\\":2,\\"b\\":1}"]',
    '["{\\"b\\":1,\\"a\\":2}"]',
    '["{\\"b\\":1,\\"a\\":2}"]',
    '["{\\"a\\":2,\\"b\\":1}"]',
  ]),
  difference('numbers written in the program, as text', '1.10 | tostring', 'null', [
    '["1.1"]',
    '["1.10"]',
    '["1.1"]',
    '["1.1"]',
  ]),
  difference('large numbers as text', '1e17 * 1 | tostring', 'null', [
    '["100000000000000000"]',
    '["1e+17"]',
    '["1e+17"]',
    '["100000000000000000"]',
  ]),
  difference('small numbers as text', '0.00001 * 1 | tostring', 'null', [
    '["0.00001"]',
    '["1e-05"]',
    '["1e-05"]',
    '["0.00001"]',
  ]),
  difference('wording of errors', '.a', '1', [
    '{"error":"Cannot index number with string (\\"a\\")"}',
    '{"error":"Cannot index number with string (\\"a\\")"}',
    '{"error":"Cannot index number with string \\"a\\""}',
    ERROR,
  ]),
  difference('`if` without `else`', 'if . then 1 end', 'false', [
    '[false]',
    '[false]',
    COMPILE_ERROR,
    '[false]',
  ]),
  difference('`as` behind an operator', '1 + 2 as $x | $x * 2', 'null', ['[6]', '[6]', '[5]', '[5]']),
  difference('`trim`, `abs`, `pick`, `skip`, `toboolean`, `scan($re; $flags)`', '" a " | trim', 'null', [
    '["a"]',
    '["a"]',
    COMPILE_ERROR,
    '["a"]',
  ]),
  difference('`ltrimstr` of what is no string', '"a" | ltrimstr(1)', 'null', [
    '{"error":"startswith() requires string inputs"}',
    '{"error":"startswith() requires string inputs"}',
    '["a"]',
    '["a"]',
  ]),
  difference('`leaf_paths`', '[leaf_paths]', '{"a":{"b":1}}', [
    '[[["a","b"]]]',
    COMPILE_ERROR,
    '[[["a","b"]]]',
    '[[["a","b"]]]',
  ]),
  difference('`toarray`', 'toarray', '1', ['[[1]]', COMPILE_ERROR, COMPILE_ERROR, '[[1]]']),
  difference('`@base32`, `@base32d`', '@base32', '"a"', [
    '["ME======"]',
    '{"error":"base32 is not a valid format"}',
    '{"error":"base32 is not a valid format"}',
    '["ME======"]',
  ]),
  difference('short names in `from_entries`', 'from_entries', '[{"k":"a","v":1}]', [
    '[{"a":1}]',
    '{"error":"Cannot use null (null) as object key"}',
    '{"error":"Cannot use null (null) as object key"}',
    '[{"a":1}]',
  ]),
  difference('`keys_unsorted`', 'keys_unsorted', '{"b":1,"a":2}', [
    '[["a","b"]]',
    '[["a","b"]]',
    '[["a","b"]]',
    COMPILE_ERROR,
  ]),
  difference('possessive and atomic groups', 'test("a++b")', '"aab"', ['[true]', '[true]', '[true]', ERROR]),
  difference('look-around and back-references', 'test("(a)\\\\1(?=b)")', '"aab"', [
    '[true]',
    '[true]',
    '[true]',
    ERROR,
  ]),
  difference(
    'groups that earlier rounds of a loop matched',
    '[match("(?:(a)|b)*").captures[].string]',
    '"ab"',
    ['[[null]]', '[["a"]]', '[["a"]]', ERROR],
  ),
  difference('text segments in regular expressions, `\\X`, `\\y`, `\\Y`', 'test("\\\\X")', '"a"', [
    '{"error":"Regex failure: \\\\X (a text segment) is not supported by the built-in engine"}',
    '[true]',
    '[true]',
    ERROR,
  ]),
  difference('the start of the search, `\\G`', '[match("\\\\Ga"; "g").offset]', '"aaba"', [
    '{"error":"Regex failure: \\\\G (where the search starts) is not supported by the built-in engine"}',
    '[[0,1]]',
    '[[0,1]]',
    ERROR,
  ]),
  difference(
    '`\\K` in groups that are repeated, and in look-arounds',
    '[match("(?:a\\\\Kb)+").offset]',
    '"abab"',
    [
      '{"error":"Regex failure: \\\\K in a group that is repeated is not supported by the built-in engine"}',
      '[[3]]',
      '[[3]]',
      ERROR,
    ],
  ),
  difference('calls of groups, `\\g<1>` and `(?&name)`', 'test("(a)\\\\g<1>")', '"aa"', [
    '{"error":"Regex failure: calls of groups are not supported by the built-in engine"}',
    '[true]',
    '[true]',
    ERROR,
  ]),
  difference('absent operators, `(?~...)`', '[match("(?~b)").string]', '"aab"', [
    '{"error":"Regex failure: absent operators, (?~...), are not supported by the built-in engine"}',
    '[["aa"]]',
    '[["aa"]]',
    ERROR,
  ]),
  difference('conditions, `(?(1)...)`, and callouts, `(*FAIL)`', 'test("(a)?(?(1)b|c)")', '"ab"', [
    '{"error":"Regex failure: conditions, (?(...)...), are not supported by the built-in engine"}',
    '[true]',
    '[true]',
    ERROR,
  ]),
  difference(
    'Unicode blocks, `\\p{In_...}`, and properties such as `\\p{Other_...}`',
    'test("\\\\p{In_Basic_Latin}")',
    '"a"',
    [
      '{"error":"Regex failure: the character property {In_Basic_Latin} is not supported by the built-in engine"}',
      '[true]',
      '[true]',
      ERROR,
    ],
  ),
  difference(
    'back-references to what an earlier round of a loop matched',
    'test("^(?:(a)|b)*\\\\1$")',
    '"aba"',
    [
      '{"error":"Regex failure: back-references to what an earlier round of a loop matched are not supported by the built-in engine"}',
      '[true]',
      '[true]',
      ERROR,
    ],
  ),
  difference(
    'back-references to groups that may be empty or may take no part',
    'test("(a*)|b\\\\1")',
    '"b"',
    [
      '{"error":"Regex failure: back-references to groups that may be empty, or take no part, are not supported by the built-in engine"}',
      '[true]',
      '[true]',
      ERROR,
    ],
  ),
  difference('atomic groups and `\\R` in look-behinds', 'test("(?<=(?>a))b")', '"ab"', [
    '{"error":"Regex failure: atomic groups and \\\\R in look-behinds are not supported by the built-in engine"}',
    '[true]',
    '[true]',
    ERROR,
  ]),
  difference('look-behinds with alternatives of different lengths', 'test("(?<=a|bc)d")', '"ad"', [
    '[true]',
    '{"error":"Regex failure: invalid pattern in look-behind"}',
    '{"error":"Regex failure: invalid pattern in look-behind"}',
    ERROR,
  ]),
  difference('`(?P<name>...)`', 'test("(?P<name>a)")', '"a"', [
    '[true]',
    '{"error":"Regex failure: undefined group option"}',
    '{"error":"Regex failure: undefined group option"}',
    '[true]',
  ]),
  difference('loops in which the empty alternative comes first', '[match("(?:|a)+").string]', '"aa"', [
    '[["aa"]]',
    '[[""]]',
    '[[""]]',
    '[[""]]',
  ]),
  difference(
    'groups in a last round of a loop that matches nothing',
    '[match("(a|)*").captures[].string]',
    '"a"',
    ['[["a"]]', '[[""]]', '[[""]]', '[["a"]]'],
  ),
  difference(
    'empty matches next to characters beyond ASCII, with flag `g`',
    '[match("(?=.)"; "g").offset]',
    '"éa"',
    ['[[0,1]]', '[[0,1,1]]', CRASH, ERROR],
  ),
  difference('characters that match several others with flag `i`', 'test("ß"; "i")', '"SS"', [
    '[false]',
    '[true]',
    '[true]',
    ERROR,
  ]),
  difference('flag `l`, the longest match', '[match("a|ab"; "l").string]', '"ab"', [
    '{"error":"Regex failure: flag l (longest match) is not supported by the built-in engine"}',
    '[["ab"]]',
    '[["a"]]',
    ERROR,
  ]),
  difference('`reduce` and `foreach` as paths', 'path(reduce ("a", "b") as $key (.; .[$key]))', 'null', [
    '[["a","b"]]',
    '[[]]',
    '[[]]',
    '[["a","b"]]',
  ]),
  difference('unknown formats', '@nothing', 'null', [
    COMPILE_ERROR,
    '{"error":"nothing is not a valid format"}',
    '{"error":"nothing is not a valid format"}',
    COMPILE_ERROR,
  ]),
  difference('last digits of `exp10`, `gamma`, `lgamma`', 'exp10', '8', [
    '[100000000]',
    '[99999999.99999999]',
    '[99999999.99999999]',
    '[100000000]',
  ]),
  difference('weekday and day of the year of a time without date', 'strptime("%H:%M") | .[6:]', '"10:20"', [
    '[[8,367]]',
    '[[8,367]]',
    '[[8,367]]',
    ERROR,
  ]),
  difference('`erf`, `erfc`, `j0`, `j1`, `jn`, `y0`, `y1`, `yn`', '0 | j0', 'null', [
    COMPILE_ERROR,
    '[1]',
    '[1]',
    '[1]',
  ]),
  difference('slices in messages', '.[0:1]', '{}', [
    '{"error":"Cannot index object with object ({\\"end\\":1,\\"start\\":0})"}',
    '{"error":"Cannot index object with object ({\\"start\\":0,\\"end\\":1})"}',
    '{"error":"Cannot index object with object"}',
    ERROR,
  ]),
];

function difference(
  topic: string,
  program: string,
  input: string,
  [builtin, newer, older, original]: readonly [string, string, string, string],
): JqDifference {
  const responses = { 'built-in': builtin, 'jq 1.8': newer, 'jq 1.6': older, original };
  return { topic, program, input, responses };
}

/** The table as Markdown, with the rows in which these engines differ. */
export function differencesTable(engines: readonly EngineName[] = ENGINES): string {
  const head = `| | filter | input | ${engines.join(' | ')} |\n|---${'|---'.repeat(engines.length + 2)}|`;
  const differing = JQ_DIFFERENCES.filter(
    ({ responses }) => new Set(engines.map((engine) => responses[engine])).size > 1,
  );
  const rows = differing.map(({ topic, program, input, responses }) => {
    const cells = [code(program), code(input), ...engines.map((engine) => cell(responses[engine]))];
    return `| ${topic} | ${cells.join(' | ')} |`;
  });
  return [head, ...rows].join('\n');
}

function cell(response: string): string {
  if (response === COMPILE_ERROR || response === CRASH || response === ERROR) return response;
  const message = /^\{"error":(.*)\}$/.exec(response)?.[1];
  return message === undefined ? code(response.slice(1, -1)) : `error ${code(message)}`;
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}
