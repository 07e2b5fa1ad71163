import { cutMiddle } from '@addon-operator/strings/cut-middle';

/** Every code an OperatorError can carry; `docs/errors.md` explains each of them. */
export const ERROR_CODES = [
  'ABORTED',
  'ARTIFACT_INVALID',
  'CONFIG_INVALID',
  'CONFIG_MAP_CONFLICT',
  'CONFIG_MAP_INVALID',
  'CRD_FAILED',
  'DEBUG_SOCKET',
  'DISCOVERY_FAILED',
  'ENABLED_SCRIPT_FAILED',
  'EXTENSION_FAILED',
  'EXTENSION_INVALID',
  'HAND_OVER_REFUSED',
  'HELM_FAILED',
  'HELM_LOCKED',
  'HELM_NOT_FOUND',
  'HELM_RELEASE_CORRUPT',
  'HOOK_CONFIG_INVALID',
  'HOOK_EXEC',
  'HOOK_FAILED',
  'HOOK_OUTPUT_INVALID',
  'HOOK_PERMANENT',
  'HOOK_RETRIES_EXHAUSTED',
  'HOOK_TEMPORARY',
  'HOOK_TIMEOUT',
  'HTTP_LISTEN',
  'INTERNAL',
  'JQ_COMPILE',
  'JQ_RUNTIME',
  'JQ_TIMEOUT',
  'JQ_UNAVAILABLE',
  'KUBE_API',
  'KUBE_CONFIG_INVALID',
  'KUBE_KIND_UNKNOWN',
  'KUBE_UNREACHABLE',
  'LEASE_LOST',
  'MODULE_INVALID',
  'MODULE_UNAUTHORIZED',
  'MODULE_UNKNOWN',
  'MODULE_UNVERIFIED',
  'OBJECT_PATCH_FAILED',
  'PROCESS_SPAWN',
  'REGISTRY_NOT_FOUND',
  'REGISTRY_REFUSED',
  'REGISTRY_UNREACHABLE',
  'RELEASE_BLOCKED',
  'RELEASE_NOT_READY',
  'REQUEST_INVALID',
  'REQUEST_REFUSED',
  'REQUIREMENT_FAILED',
  'RUN_ABORTED',
  'SCHEDULE_INVALID',
  'SECRET_MISSING',
  'SIGNING_KEY_INVALID',
  'SOURCE_INVALID',
  'STANDBY',
  'STORE_FAILED',
  'TOOL_UNAVAILABLE',
  'UNINSTALL_INCOMPLETE',
  'VALUES_INVALID',
  'VALUES_PATCH_INVALID',
  'WEBHOOK_CERTIFICATE',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Facts about a failure besides its message, as fields of log records; nothing secret. */
export type ErrorFacts = Readonly<Record<string, string | number>>;

interface OperatorErrorOptions {
  readonly cause?: unknown;
  readonly facts?: ErrorFacts;
  /** Default: what the cause says, else false. */
  readonly isPermanent?: boolean;
  /** Default: what the cause says. */
  readonly retryAfterMs?: number | undefined;
}

/** Longer messages are cut: they become records of the log, Events, conditions and lines of tables. */
const MAX_MESSAGE_CHARACTERS = 16_384;

/**
 * The only error class of the project. `message` says what failed and where, in words a user can act on;
 * `cause` keeps what a library or the system reported. Of a message beyond 16,384 characters both ends are kept.
 */
export class OperatorError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;
  /** A retry is useless until something changes. */
  readonly isPermanent: boolean;
  /** Nothing is wrong, only not yet time: to be tried again after so many milliseconds. Undefined for failures. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: OperatorErrorOptions = {}) {
    super(cutMiddle(message, MAX_MESSAGE_CHARACTERS), options);
    this.name = 'OperatorError';
    this.code = code;
    // An error that only adds words to another one knows what that one knows.
    this.facts = options.facts ?? factsOf(options.cause);
    this.isPermanent = options.isPermanent ?? isPermanent(options.cause);
    this.retryAfterMs = options.retryAfterMs ?? retryAfterOf(options.cause);
  }
}

/** Milliseconds until a retry makes sense, if the error is a request to wait and no failure; else undefined. */
export function retryAfterOf(error: unknown): number | undefined {
  return error instanceof OperatorError ? error.retryAfterMs : undefined;
}

/** The facts of anything that was thrown. */
export function factsOf(error: unknown): ErrorFacts {
  return error instanceof OperatorError ? error.facts : {};
}

/** The code of anything that was thrown; undefined for an error that is not the project's own. */
export function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof OperatorError ? error.code : undefined;
}

/** A failure as fields of a log record: `error` is its message, `code` its code, in addition to its facts. */
export function errorFields(error: unknown): Readonly<Record<string, string | number>> {
  const code = codeOf(error);
  return { error: messageOf(error), ...(code !== undefined && { code }), ...factsOf(error) };
}

/** Whether a retry is useless until something changes. */
export function isPermanent(error: unknown): boolean {
  return error instanceof OperatorError && error.isPermanent;
}

/** Whether `error` is an OperatorError with the given code. */
export function hasCode(error: unknown, code: ErrorCode): error is OperatorError {
  return error instanceof OperatorError && error.code === code;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
