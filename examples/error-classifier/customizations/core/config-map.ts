import {
  type DeployError,
  defineExtensions,
  type ErrorClassifier,
  type ErrorDetails,
  errorDetails,
  type HookLog,
} from 'addon-operator/sdk';

/** Teams make their namespaces themselves, some of them later than we put settings there. */
export class ConfigMapExtensions implements ErrorClassifier {
  async classifyError(
    error: DeployError,
    next: (error: DeployError) => Promise<ErrorDetails>,
    _apiVersion: string,
    log: HookLog,
  ): Promise<ErrorDetails> {
    const details = await next(error);
    if (error.reason !== 'NotFound') return details;
    const { namespace = 'default' } = error.object.metadata;
    log.info(`waiting for namespace ${namespace}`);
    return errorDetails('retryable', details.code, `namespace ${namespace} is still to be made`);
  }
}

export default defineExtensions(new ConfigMapExtensions());
