export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface FailureStatus {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure';
  readonly message: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** A request that the API refuses; `status` is the body of the response. */
export class StatusError extends Error {
  readonly status: FailureStatus;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.name = 'StatusError';
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** Group and plural name of a kind, as error messages name it. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

function qualified(resource: ResourceName): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

function detailsOf(resource: ResourceName, name: string): StatusDetails {
  const group = resource.group === '' ? {} : { group: resource.group };
  return { ...(name === '' ? {} : { name }), ...group, kind: resource.plural };
}

export function notFound(resource: ResourceName, name: string): StatusError {
  return new StatusError(
    404,
    'NotFound',
    `${qualified(resource)} "${name}" not found`,
    detailsOf(resource, name),
  );
}

export function alreadyExists(resource: ResourceName, name: string): StatusError {
  const message = `${qualified(resource)} "${name}" already exists`;
  return new StatusError(409, 'AlreadyExists', message, detailsOf(resource, name));
}

export function conflict(resource: ResourceName, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return new StatusError(409, 'Conflict', message, detailsOf(resource, name));
}

export function modifiedConflict(resource: ResourceName, name: string): StatusError {
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(resource, name, why);
}

export function forbidden(
  resource: ResourceName,
  name: string,
  why: string,
  cause?: StatusCause,
): StatusError {
  const details = { ...detailsOf(resource, name), ...(cause === undefined ? {} : { causes: [cause] }) };
  return new StatusError(403, 'Forbidden', `${qualified(resource)} "${name}" is forbidden: ${why}`, details);
}

/** 422 for an object whose fields are refused; `subject.kind` is a kind, not a plural. */
export function invalid(
  subject: { readonly group: string; readonly kind: string; readonly name: string },
  causes: readonly StatusCause[],
): StatusError {
  const texts = [...new Set(causes.map((cause) => `${cause.field ?? ''}: ${cause.message}`))];
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const qualifiedKind = subject.group === '' ? subject.kind : `${subject.kind}.${subject.group}`;
  return new StatusError(422, 'Invalid', `${qualifiedKind} "${subject.name}" is invalid: ${text}`, {
    ...(subject.name === '' ? {} : { name: subject.name }),
    ...(subject.group === '' ? {} : { group: subject.group }),
    kind: subject.kind,
    causes,
  });
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

/** 404 for a resource or a version that is not served. */
export function unknownResource(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return new StatusError(405, 'MethodNotAllowed', message, {});
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new StatusError(415, 'UnsupportedMediaType', message);
}

export function expired(message: string): StatusError {
  return new StatusError(410, 'Expired', message);
}

/** 501 for what a cluster can do and the sandbox cannot. */
export function notImplemented(what: string): StatusError {
  return new StatusError(501, 'NotImplemented', `the sandbox does not support ${what}; use a real cluster`);
}

/** A cause of {@link invalid} for a field that is missing. */
export function required(field: string, why: string): StatusCause {
  return { reason: 'FieldValueRequired', message: `Required value: ${why}`, field };
}

/** A cause of {@link invalid} for a field with a wrong value. */
export function invalidValue(field: string, value: unknown, why: string): StatusCause {
  const message = `Invalid value: ${JSON.stringify(value ?? null)}: ${why}`;
  return { reason: 'FieldValueInvalid', message, field };
}

/** A cause of {@link invalid} for a field that must not be set or changed. */
export function forbiddenField(field: string, why: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field };
}
