import { OperatorError } from '@addon-operator/base/errors';
import { shortLine } from '@addon-operator/strings/escape-controls';

/** Names in archives and manifests may be arbitrarily long. */
const MAX_REASON_CHARACTERS = 1_000;

/** @param reason what is wrong, where; it becomes one line of a length that can be shown */
export function invalidArtifact(reason: string, cause?: unknown): OperatorError {
  return new OperatorError('ARTIFACT_INVALID', shortLine(reason, MAX_REASON_CHARACTERS), {
    cause,
    isPermanent: true,
  });
}
