import { OperatorError } from '@addon-operator/base/errors';
import { escapeControls } from '@addon-operator/strings/escape-controls';

/** Names in archives and manifests may be arbitrarily long. */
const MAX_REASON_CHARACTERS = 1_000;

/** @param reason what is wrong, where; it becomes one line of a length that can be shown */
export function invalidArtifact(reason: string, cause?: unknown): OperatorError {
  const line = escapeControls(reason);
  const shown = line.length > MAX_REASON_CHARACTERS ? `${line.slice(0, MAX_REASON_CHARACTERS)}…` : line;
  return new OperatorError('ARTIFACT_INVALID', shown, { cause, isPermanent: true });
}
