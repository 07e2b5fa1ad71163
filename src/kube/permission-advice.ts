/** How the API server says that no role allows something. Quotas, policies and webhooks use other words. */
const DENIED = /forbidden: User "/;
/** What clients make of an answer without a reason, such as a proxy before the API server gives. */
const BARE = /\b403 Forbidden\b|\bForbidden \((?:get|list|watch|post|put|patch|delete) |\bstatus code 403\b/;

export const PERMISSION_ADVICE =
  "The operator's account lacks this permission: add it to its role; `addon-operator rbac` prints what modules need.";

/** What to do when a text says that the account may not do something; undefined for other errors. */
export function permissionAdvice(error: string): string | undefined {
  return DENIED.test(error) || BARE.test(error) ? PERMISSION_ADVICE : undefined;
}
