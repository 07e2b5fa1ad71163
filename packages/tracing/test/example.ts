import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { startTracing } from '@addon-operator/tracing';

const collector = createServer((request, response) => {
  void text(request).then((body) => {
    for (const [, trace, name] of body.matchAll(/"traceId":"(\w{4})[^{}]*"name":"(\w+)"/g))
      console.log(`${request.url} ${trace}… ${name}`);
    response.setHeader('Content-Type', 'application/json').end('{}');
  });
}).listen(0, '127.0.0.1');
await once(collector, 'listening');
const { port } = collector.address() as AddressInfo;

const running = new AsyncDisposableStack();
const tracer = await startTracing({
  env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
  clock: systemClock,
  steadyClock: systemClock,
  log: silentLogger,
  serviceName: 'shop',
  version: '1.0.0',
  bootId: 'boot-1',
  redact: (message) => message.replaceAll('s3cret', '***'),
  onDropped: (count) => console.log(`${count} spans are lost`),
  running,
});

const order = tracer.start({ name: 'order', traceId: '4bf92f3577b34da6a3ce929d0e0e4736', kind: 'consumer' });
const payment = order.child({ name: 'payment', attributes: { attempts: 2 } });
payment.end({ error: 'the token s3cret is not valid' });
order.end();

await running.disposeAsync();
collector.close();
collector.closeAllConnections();
