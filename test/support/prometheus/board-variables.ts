/** What Grafana fills in, for a Prometheus whose series have the namespace `addons`, in a short test. */
const VARIABLES = { namespace: 'addons', cluster: '.*', module: 'web', __rate_interval: '1m' };

export function filledIn(expr: string): string {
  return Object.entries(VARIABLES).reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), expr);
}
