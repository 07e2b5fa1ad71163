import { OperatorError } from '@addon-operator/base/errors';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';

interface ReviewSpec {
  readonly token: string;
  readonly audiences?: readonly string[];
  readonly user: string;
  readonly groups: readonly string[];
  readonly resourceAttributes: {
    readonly group: string;
    readonly resource: string;
    readonly subresource: string;
    readonly verb: string;
    readonly name: string;
  };
}

/** The reviews of an API server: users by token, and rules by user or group as `verb resource[ name]`, or `*`. */
export class ReviewServer implements Pick<KubeClient, 'request'> {
  readonly users = new Map<string, object>();
  readonly rules = new Map<string, readonly string[]>();
  readonly requests: { readonly kind: string; readonly spec: ReviewSpec }[] = [];
  trouble: 'none' | 'away' | 'forbidden' = 'none';

  async request({ method, path, body }: KubeRequest): Promise<unknown> {
    const { kind, spec } = body as { kind: string; spec: ReviewSpec };
    this.requests.push({ kind, spec });
    if (this.trouble === 'away') throw new OperatorError('KUBE_UNREACHABLE', 'connection refused');
    if (this.trouble === 'forbidden')
      throw new KubeApiError('reviews is forbidden', { status: 403, reason: 'Forbidden' });
    switch (`${method} ${path}`) {
      case 'POST /apis/authentication.k8s.io/v1/tokenreviews':
        return { kind, status: this.#tokenStatus(spec) };
      case 'POST /apis/authorization.k8s.io/v1/subjectaccessreviews':
        return { kind, status: { allowed: this.#isAllowed(spec) } };
      default:
        throw new KubeApiError(`not found: ${path}`, { status: 404, reason: 'NotFound' });
    }
  }

  #tokenStatus({ token, audiences = [] }: ReviewSpec): object {
    const user = this.users.get(token);
    if (user === undefined) return { authenticated: false, error: 'unknown token' };
    return { authenticated: true, user, audiences };
  }

  #isAllowed({ user, groups, resourceAttributes }: ReviewSpec): boolean {
    const { group, resource, subresource, verb, name } = resourceAttributes;
    if (group !== 'addon-operator.io') return false;
    const wanted = `${verb} ${subresource === '' ? resource : `${resource}/${subresource}`}`;
    const known = [user, ...groups].flatMap((subject) => this.rules.get(subject) ?? []);
    return known.some((rule) => rule === '*' || rule === wanted || rule === `${wanted} ${name}`);
  }
}
