import {
  ACTION_FIELDS,
  ACTIONS,
  type ActionField,
  MODULE_ACTIONS,
  OPERATOR_ACTIONS,
} from '../server/api/actions.ts';
import { API_PREFIX } from '../server/api/api-handler.ts';
import { API_SCHEMAS } from '../server/api/schemas.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The arguments of a call, whose names and types were checked. */
export type ToolArguments = Readonly<Record<string, string | number>>;

/** A request to the operator on the debug socket. */
export interface ToolRequest {
  /** Path and query. */
  readonly path: string;
  /** Sent as JSON by POST; without it the request is a GET. */
  readonly body?: Readonly<Record<string, string>>;
}

/** How a tool gets its result: from the operator, or on this machine. */
type ToolSource =
  | { readonly type: 'operator'; readonly request: (args: ToolArguments) => ToolRequest }
  | { readonly type: 'lint' }
  | { readonly type: 'docs' };

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  readonly source: ToolSource;
  /** Whether it changes something; such tools exist only with `--allow-actions`. */
  readonly isAction: boolean;
  /** Whether its result holds text that hooks have written. */
  readonly hasHookText: boolean;
}

interface Parameter {
  readonly type: 'string' | 'integer';
  readonly description: string;
  readonly isRequired?: true;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
}

const MODULE: Parameter = { type: 'string', description: 'Name of the module.', isRequired: true };

function inputOf(parameters: Readonly<Record<string, Parameter>>): Schema {
  const entries = Object.entries(parameters);
  const schemaOf = (parameter: Parameter): Schema => {
    const { isRequired: _isRequired, ...schema } = parameter;
    return schema;
  };
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, parameter]) => [name, schemaOf(parameter)])),
    required: entries.filter(([, { isRequired }]) => isRequired === true).map(([name]) => name),
    additionalProperties: false,
  };
}

/** A tool that is one GET of the API. */
function reading(
  name: string,
  title: string,
  description: string,
  {
    schema,
    path,
    parameters = {},
  }: {
    /** Name in `API_SCHEMAS`. */
    readonly schema: string;
    readonly path: (args: ToolArguments) => string;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  },
): Tool {
  return {
    name,
    title,
    description,
    inputSchema: inputOf(parameters),
    outputSchema: API_SCHEMAS[schema] ?? {},
    source: { type: 'operator', request: (args) => ({ path: `${API_PREFIX}${path(args)}` }) },
    isAction: false,
    hasHookText: true,
  };
}

const part = (args: ToolArguments, name: string): string => encodeURIComponent(String(args[name]));

/** The given arguments as a query. */
function queryOf(args: ToolArguments): string {
  const query = new URLSearchParams(
    Object.entries(args).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return query.size === 0 ? '' : `?${query.toString()}`;
}

const READING: readonly Tool[] = [
  reading(
    'status',
    'Status',
    'Whether all is well, or the most important problems with their causes; what runs, what waits and what comes next. Call it first.',
    { schema: 'now', path: () => '/now' },
  ),
  reading(
    'list_modules',
    'Modules',
    'All modules with their state, what is in their way and their last runs.',
    {
      schema: 'modules',
      path: () => '/modules',
    },
  ),
  reading(
    'explain_module',
    'Explain a module',
    'Why a module is in its state: what enables it, what it waits for, its errors, and what to do.',
    { schema: 'module', path: (args) => `/modules/${part(args, 'module')}`, parameters: { module: MODULE } },
  ),
  reading(
    'module_values',
    'Values of a module',
    'The values of a module with the source of each; secrets are masked. `global` means the global values.',
    {
      schema: 'module-values',
      path: (args) => `/modules/${part(args, 'module')}/values`,
      parameters: { module: MODULE },
    },
  ),
  reading(
    'module_diff',
    'What a run would change',
    'What the next run of a module would change in the cluster; secrets are masked. Renders the chart.',
    {
      schema: 'module-diff',
      path: (args) => `/modules/${part(args, 'module')}/diff`,
      parameters: { module: MODULE },
    },
  ),
  reading('module_history', 'History of a module', 'The revisions of the release of a module.', {
    schema: 'module-history',
    path: (args) => `/modules/${part(args, 'module')}/history`,
    parameters: { module: MODULE },
  }),
  reading('queues', 'Queues', 'All queues with their first tasks, what each task waits for, and errors.', {
    schema: 'queues',
    path: () => '/queues',
  }),
  reading(
    'runs',
    'Runs',
    'The last runs of tasks and hooks, the newest first. All parameters narrow the list.',
    {
      schema: 'runs',
      path: (args) => `/runs${queryOf(args)}`,
      parameters: {
        module: { type: 'string', description: 'Name of a module.' },
        hook: { type: 'string', description: 'Name of a hook.' },
        queue: { type: 'string', description: 'Name of a queue.' },
        event: { type: 'string', description: 'Id of an event.' },
        result: {
          type: 'string',
          description: 'The result of the runs.',
          enum: ['success', 'failed', 'repeat', 'skipped', 'aborted', 'running'],
        },
        before: {
          type: 'integer',
          description: 'Only runs before this id; `next` of a response.',
          minimum: 1,
        },
        limit: { type: 'integer', description: 'How many; default 50.', minimum: 1, maximum: 500 },
      },
    },
  ),
  reading(
    'run_output',
    'A run with its output',
    'One run: its causes and effects, and what the hook printed.',
    {
      schema: 'run',
      path: (args) => `/runs/${part(args, 'id')}`,
      parameters: {
        id: { type: 'integer', description: 'Id of the run.', minimum: 1, isRequired: true },
      },
    },
  ),
  reading('trace_event', 'What an event led to', 'All runs that one event led to, the oldest first.', {
    schema: 'event',
    path: (args) => `/events/${part(args, 'id')}`,
    parameters: { id: { type: 'string', description: 'Id of the event or of a run.', isRequired: true } },
  }),
  reading(
    'next',
    'What comes next',
    'What happens at known times: retries, crontabs, checks, ends of pauses.',
    {
      schema: 'next',
      path: (args) => `/next${queryOf(args)}`,
      parameters: {
        hours: { type: 'integer', description: 'How far to look; default 24.', minimum: 1, maximum: 8784 },
      },
    },
  ),
];

/** The report of `module lint -o json`. */
const LINT: Tool = {
  name: 'lint',
  title: 'Check modules',
  description:
    'Checks the files of modules on this machine without a cluster, as `addon-operator module lint` does.',
  inputSchema: inputOf({
    directory: {
      type: 'string',
      description: 'A module, or a directory of modules; default: the modules directories of the settings.',
    },
  }),
  outputSchema: {
    type: 'object',
    properties: {
      errors: { type: 'integer' },
      warnings: { type: 'integer' },
      modules: { type: 'array', items: { type: 'object' }, description: 'Findings by module.' },
    },
    required: ['errors', 'warnings', 'modules'],
  },
  source: { type: 'lint' },
  isAction: false,
  hasHookText: false,
};

const SEARCH_DOCS: Tool = {
  name: 'search_docs',
  title: 'Search the documentation',
  description: 'Sections of the documentation of addon-operator that have the words, the best first.',
  inputSchema: inputOf({
    query: { type: 'string', description: 'Words, or a code of an error.', isRequired: true },
  }),
  outputSchema: {
    type: 'object',
    properties: {
      sections: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            page: { type: 'string', description: 'File below docs/.' },
            heading: { type: 'string' },
            text: { type: 'string', description: 'At most 2,000 characters.' },
          },
          required: ['page', 'heading', 'text'],
          additionalProperties: false,
        },
      },
    },
    required: ['sections'],
    additionalProperties: false,
  },
  source: { type: 'docs' },
  isAction: false,
  hasHookText: false,
};

/** Fields that only other clients use. */
const LEFT_OUT: readonly ActionField[] = ['withValues', 'dryRun'];

const ACTION_TOOLS: readonly Tool[] = [...MODULE_ACTIONS, ...OPERATOR_ACTIONS].map((action) => {
  const { target, label, does, loses, needs, takes } = ACTIONS[action];
  const fields = [...new Set<ActionField>(['reason', ...needs, ...takes])].filter(
    (name) => !LEFT_OUT.includes(name),
  );
  const parameters = fields.map((name): [string, Parameter] => [
    name,
    {
      type: 'string',
      description: ACTION_FIELDS[name],
      ...(needs.includes(name) && { isRequired: true }),
    },
  ]);
  const isOfModule = target === 'module';
  const suffix = isOfModule || target === 'queue' ? `_${target}` : '';
  return {
    name: `${action.replaceAll('-', '_')}${suffix}`,
    title: label,
    description: loses === '' ? does : `${does} ${loses}`,
    inputSchema: inputOf({ ...(isOfModule && { module: MODULE }), ...Object.fromEntries(parameters) }),
    outputSchema: API_SCHEMAS['operation'] ?? {},
    source: {
      type: 'operator',
      request: ({ module, ...given }) => ({
        path: `${API_PREFIX}${isOfModule ? `/modules/${encodeURIComponent(String(module))}` : ''}/actions`,
        body: {
          action,
          ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)])),
        },
      }),
    },
    isAction: true,
    hasHookText: false,
  };
});

/** The tools of a session. @param allowsActions default false: only those that change nothing */
export function toolsFor(allowsActions: boolean): readonly Tool[] {
  const readOnly = [...READING, LINT, SEARCH_DOCS];
  return allowsActions ? [...readOnly, ...ACTION_TOOLS] : readOnly;
}

/**
 * The arguments of a call, checked against the input schema of the tool.
 *
 * @returns what is wrong, as a sentence, if anything is
 */
export function toolArguments(
  { inputSchema }: Tool,
  given: Readonly<Record<string, unknown>>,
): ToolArguments | string {
  const properties = inputSchema['properties'] as Readonly<Record<string, Parameter>>;
  const missing = (inputSchema['required'] as readonly string[]).find((name) => given[name] === undefined);
  if (missing !== undefined) return `the argument "${missing}" is missing`;
  const checked: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(given)) {
    const schema = properties[name];
    if (schema === undefined) return `unknown argument "${name.slice(0, 100)}"`;
    const problem = problemOf(value, schema);
    if (problem !== undefined) return `the argument "${name}" ${problem}`;
    checked[name] = value as string | number;
  }
  return checked;
}

const MAX_ARGUMENT = 1_000;

function problemOf(value: unknown, { type, minimum, maximum, enum: values }: Parameter): string | undefined {
  if (type === 'integer') {
    const isGood =
      Number.isSafeInteger(value) &&
      Number(value) >= (minimum ?? 0) &&
      Number(value) <= (maximum ?? Infinity);
    return isGood ? undefined : `must be a whole number${minimum === undefined ? '' : ` from ${minimum}`}`;
  }
  if (typeof value !== 'string' || value === '') return 'must be a string that is not empty';
  if (value.length > MAX_ARGUMENT) return `must not be longer than ${MAX_ARGUMENT} characters`;
  return values === undefined || values.includes(value) ? undefined : `must be one of ${values.join(', ')}`;
}
