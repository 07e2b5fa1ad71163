// Creates many ConfigMaps of one size; in a process of its own, since the garbage of it would hide what the daemon needs.
const WRITES_AT_ONCE = 16;
/** What of a ConfigMap is not its filler, as the API server answers it. */
const FRAME_BYTES = 300;

const [url = '', count = '', bytes = ''] = process.argv.slice(2);
const filler = 'x'.repeat(Number(bytes) - FRAME_BYTES);
let next = 0;

async function write(): Promise<void> {
  while (next < Number(count)) {
    const n = String((next += 1));
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `object-${n}`, labels: { app: 'bench' } },
      data: { n, filler },
    };
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(object),
    });
    if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }
}

await Promise.all(Array.from({ length: WRITES_AT_ONCE }, write));
