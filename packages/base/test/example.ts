import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import { formatGoDuration, parseGoDuration } from '@addon-operator/base/go-duration';

console.log(parseGoDuration('1m30s'), formatGoDuration(90_000));

try {
  throw new OperatorError('KUBE_UNREACHABLE', 'no response from the API server', {
    cause: new Error('ECONNREFUSED'),
  });
} catch (error) {
  console.log(hasCode(error, 'KUBE_UNREACHABLE'), messageOf(error));
}
