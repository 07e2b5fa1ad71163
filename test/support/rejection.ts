import { messageOf } from '@addon-operator/base/errors';

/** Message of what the promise rejects with; listened to from now on. */
export async function rejection(promise: PromiseLike<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return messageOf(error);
  }
  return 'nothing was thrown';
}
