import { messageOf, OperatorError } from '@addon-operator/base/errors';
import {
  anything,
  count,
  either,
  fields,
  flag,
  listOf,
  mapOf,
  mapping,
  onlyTrue,
  type Path,
  pathText,
  type Shape,
  type Shaped,
  text,
  textLike,
  word,
} from '@addon-operator/json/shape';
import { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';
import { parseYaml } from '@addon-operator/yaml';
import { checkPattern } from './match.ts';
import { yamlLines } from './yaml-lines.ts';

/** The actions of a step, in the order of the documentation. */
export const STEP_ACTIONS = [
  'start',
  'apply',
  'delete',
  'status',
  'advance',
  'tick',
  'run',
  'deploy',
  'admission',
  'convert',
  'values',
  'restart',
  'api',
] as const;

const MAX_NAME = 200;
const DURATION = { pattern: /^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/, name: 'a duration such as 90s or 24h' };
const MOMENT = {
  pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
  name: 'a moment such as 2026-05-01T10:00:00Z',
};

const pattern = (description: string): Shape => anything(description, checkPattern);
const objectOrFile = either('An object, or the path of a file with objects, relative to the test file', {
  string: text('Path of a file with objects'),
  mapping: mapping('An object'),
});
const objects = either('Objects, or paths of files with objects', {
  string: objectOrFile,
  mapping: objectOrFile,
  list: listOf(objectOrFile, 'Objects, or paths of files with objects', 1),
});

const SETTING = {
  cluster: listOf(objectOrFile, 'Objects that exist before the first step, or files and directories of them'),
  values: mapping('Values, as the ConfigMap of the operator has them: a key for each module, and global'),
  now: textLike('What the clock shows at the beginning', MOMENT),
  env: mapOf(text('Value of the variable'), 'Environment variables of the hook'),
  stub: mapOf(
    text('Path of a program, relative to the test file, or the text of a shell script such as exit 75'),
    'Programs by name, which the hook finds before those of the machine',
  ),
  timeout: textLike('How long the case may take, in real time; default 1m', DURATION),
};

const expectedObject = fields(
  {
    apiVersion: text('Group and version; absent: any'),
    kind: text('Kind of the object'),
    namespace: text('Namespace; absent for objects without one'),
    name: text('Name of the object'),
    is: pattern('Pattern for the object'),
    absent: flag('The object must not exist'),
  },
  { required: ['kind', 'name'] },
);

const expectedMetric = fields(
  {
    name: text('Name of the metric'),
    labels: pattern('Pattern for its labels'),
    value: pattern('Pattern for the value that the hook wrote'),
  },
  { required: ['name'] },
);

const expectation = fields(
  {
    runs: count('Number of runs of the hook in this step'),
    contexts: pattern('Pattern for the list of all binding contexts of the runs of this step'),
    operations: pattern('Pattern for the list of operations that the hook wrote to KUBERNETES_PATCH_PATH'),
    objects: listOf(
      expectedObject,
      'Objects as they must be. Further objects that the hook changed in this step fail the case',
    ),
    others: word('Further changes of objects do not fail the case', ['allowed']),
    values: pattern('Pattern for the values that the hook would get next'),
    configValues: pattern('Pattern for the data of the ConfigMap of the operator, by section'),
    metrics: listOf(expectedMetric, 'Metrics that the hook must have written in this step'),
    outcome: word('How all runs of this step must end; default success', [
      'success',
      'failure',
      'temporary',
      'permanent',
    ]),
    error: pattern('Pattern for the message of the failure'),
    output: pattern('Pattern for what the hook printed in this step, one line after another'),
    requests: pattern('Pattern for the list of requests that the hook itself sent, such as GET /api/v1/pods'),
    allowed: flag('Whether the admission request is allowed; default true'),
    message: pattern('Pattern for why a request is denied, or a conversion failed'),
    warnings: pattern('Pattern for the list of warnings of an admission response'),
    patched: pattern('Pattern for the object after the patch of a mutating webhook'),
    converted: pattern('Pattern for the list of converted objects'),
    snapshot: onlyTrue('All that came of the step must be as it is stored in __snapshots__'),
  },
  {},
  'What must have come of the step, once all is quiet',
);

const refused = (status: number): Shape<number> => count(`Writes that are refused with status ${status}`);
const deploy = fields(
  {
    binding: word('Binding of the hook for this step of a deployment', DEPLOY_BINDINGS),
    module: fields(
      {
        name: text('Name of the module'),
        version: text('Its version; absent for none'),
        path: text('Its directory; absent when only its release is left'),
      },
      { required: ['name'] },
      'The module that is deployed',
    ),
    revision: count('Revision that is deployed; default 1'),
    previousRevision: count('Revision that was deployed before; default the one before, 0 for none'),
    attempt: count('Attempts of this deployment; default 1'),
    reason: text('Why the module is not authorized (afterAuthFail)'),
    policy: text('Policy that refuses it (afterAuthFail)'),
    place: word('What is refused (afterAuthFail)', ['manifest', 'installation']),
  },
  { required: ['binding', 'module'] },
  'A module is deployed or removed: the hook is run for one step of that',
);
const admission = fields(
  {
    binding: text('Name of the validating or mutating binding'),
    operation: word('What is done with the object; default CREATE', [
      'CREATE',
      'UPDATE',
      'DELETE',
      'CONNECT',
    ]),
    object: objectOrFile,
    oldObject: objectOrFile,
    subResource: text('Such as status'),
    dryRun: flag('Whether nothing of the request is stored'),
    user: text('Name of the user; default kubernetes-admin'),
  },
  { required: ['binding'] },
  'The API server requests a decision on an object',
);
const convert = fields(
  {
    crd: text('Name of the CRD; may be absent if the hook converts one only'),
    to: text('The version that is needed, such as example.com/v1'),
    objects,
  },
  { required: ['to', 'objects'] },
  'The API server needs objects in another version',
);
const api = either('The API server is away, is back, or refuses writes of the hook', {
  string: word('down or up', ['down', 'up']),
  mapping: fields({
    409: refused(409),
    429: refused(429),
    500: refused(500),
    503: refused(503),
    504: refused(504),
  }),
});

const action = fields(
  {
    start: anything('The hook is started: onStartup, then the Synchronization of its bindings'),
    apply: objects,
    delete: objects,
    status: objects,
    advance: textLike('Time passes: schedules fire, failed runs are repeated', DURATION),
    tick: text('Name of a schedule binding that fires now'),
    run: text('Lifecycle binding, such as beforeHelm, for which the hook is run now'),
    deploy,
    admission,
    convert,
    values: mapping('Sections of the ConfigMap are replaced, as a user would; null removes one'),
    restart: anything(
      'The operator is started again: what it had in memory is gone, and the hook is started',
    ),
    api,
    expect: either('What must have come of the step, once all is quiet', {
      string: word('As it is stored in __snapshots__', ['snapshot']),
      mapping: expectation,
    }),
  },
  { oneOf: STEP_ACTIONS },
);
const step = either('A step', {
  string: word('The hook, or the operator, is started', ['start', 'restart']),
  mapping: action,
});

const testCase = fields(
  {
    name: text('What is tested; different for each case of the file'),
    skip: text('Why the case is not run'),
    ...SETTING,
    steps: listOf(step, 'What happens, in order', 1),
    replay: text(
      'Recording of a run, or directory of recordings, relative to the test file: the hook must write the same for their input',
    ),
  },
  { required: ['name'], oneOf: ['steps', 'replay'] },
);

const TEST_FILE = fields(
  {
    hook: text('Path of the hook, relative to the directory above `tests`'),
    ...SETTING,
    cases: listOf(testCase, 'The cases, each on a cluster of its own', 1),
  },
  { required: ['hook', 'cases'] },
  'Tests of one hook, for addon-operator hook test',
);

export type TestFile = Shaped<typeof TEST_FILE>;
export type TestCase = Shaped<typeof testCase>;
/** The setting of a case. */
export type CaseSetting = Pick<TestCase, keyof typeof SETTING>;
export type Step = Shaped<typeof step>;
/** The action of a step: one of these. */
export type Action = Omit<Shaped<typeof action>, 'expect'>;
/** An object, or the path of a file with objects. */
export type ObjectOrFile = Shaped<typeof objectOrFile>;
/** A step in the deployment of a module, for a global hook that follows it. */
export type DeployStep = Shaped<typeof deploy>;
/** A request of the API server to a webhook of the hook. */
export type AdmissionStep = Shaped<typeof admission>;
/** Objects that the API server needs in another version. */
export type ConvertStep = Shaped<typeof convert>;
/** How the API server responds: a mapping has the number of requests that are refused with each HTTP status. */
export type ApiState = Shaped<typeof api>;
export type Expectation = Shaped<typeof expectation>;
/** An object after the step. */
export type ExpectedObject = Shaped<typeof expectedObject>;
export type ExpectedMetric = Shaped<typeof expectedMetric>;

/** JSON schema of the format, for editors. */
export const TEST_FILE_SCHEMA: Readonly<Record<string, unknown>> = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Tests of a hook',
  ...TEST_FILE.schema,
};

/** A test file, and where its parts are. */
export interface ReadTestFile {
  readonly file: TestFile;
  readonly lineOf: (path: Path) => number;
}

/**
 * Reads a test file.
 *
 * @throws OperatorError CONFIG_INVALID with one line for each mistake: file, line, path, and what is allowed there
 */
export function readTestFile(source: string, content: string): ReadTestFile {
  const { value, hasMoreDocuments } = parse(source, content);
  const lineOf = yamlLines(content, source);
  const problems: string[] = [];
  const report = (path: Path, message: string): void => {
    const place = path.length === 0 ? '' : ` ${pathText(path)}:`;
    problems.push(`${source}:${lineOf(path)}:${place} ${message}`);
  };
  if (hasMoreDocuments) report([], 'there must be one YAML document in a test file');
  TEST_FILE.check(value, [], report);
  if (problems.length === 0) {
    checkNames(value as unknown as TestFile, report);
    checkReplays(value as unknown as TestFile, report);
  }
  if (problems.length > 0) throw new OperatorError('CONFIG_INVALID', problems.join('\n'));
  return { file: value as unknown as TestFile, lineOf };
}

function parse(source: string, content: string): ReturnType<typeof parseYaml> {
  try {
    return parseYaml(content, { source, booleans: 'yaml-1.2' });
  } catch (error) {
    throw new OperatorError('CONFIG_INVALID', messageOf(error), {
      cause: error,
    });
  }
}

function checkNames({ cases }: TestFile, report: (path: Path, message: string) => void): void {
  const known = new Set<string>();
  for (const [index, { name }] of cases.entries()) {
    const path = ['cases', index, 'name'];
    if (name === '' || name.length > MAX_NAME) report(path, `must have 1 to ${MAX_NAME} characters`);
    if (known.has(name)) report(path, `another case has the name '${name}': each must have its own`);
    known.add(name);
  }
}

/** Settings that recordings have themselves, or that have no effect on them. */
const RECORDED = ['cluster', 'values', 'now'] as const;

function checkReplays({ cases }: TestFile, report: (path: Path, message: string) => void): void {
  for (const [index, test] of cases.entries())
    for (const key of RECORDED)
      if (test.replay !== undefined && key in test)
        report(
          ['cases', index, key],
          `${key} has no effect in a case with replay: its input is what was recorded`,
        );
}
