import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';

try {
  throw new OperatorError('KUBE_UNREACHABLE', 'no response from the API server', {
    cause: new Error('ECONNREFUSED'),
  });
} catch (error) {
  console.log(hasCode(error, 'KUBE_UNREACHABLE'), messageOf(error));
}
