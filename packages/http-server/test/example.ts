import { silentLogger } from '@addon-operator/base/log';
import { dataResponse, NOT_FOUND } from '@addon-operator/http-server/response';
import { serve } from '@addon-operator/http-server/serve';

const server = await serve(
  { host: '127.0.0.1', port: 0 },
  ({ path, query }) => {
    if (path === '/ready') return dataResponse('json', { isReady: true, verbose: query.has('verbose') });
    if (path === '/broken') throw new Error('out of paper');
    return NOT_FOUND;
  },
  silentLogger,
  { 'X-Content-Type-Options': 'nosniff' },
);

for (const path of ['/ready?verbose', '/missing', '/broken']) {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  const text = await response.text();
  console.log(response.status, response.headers.get('Error-Code'), text.trimEnd());
}
await server.stop();
