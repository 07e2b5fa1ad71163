import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { describeBrowser } from '../support/browser/browser-suite.ts';

const POLICY = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'";

/** What the other tests rely on: a problem of a page is a failure. */
describeBrowser('a watched page', (lab) => {
  test('reports errors of the console and of the policy, and what axe finds', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': POLICY });
      response.end(
        '<!doctype html><html lang="en"><title>x</title><h1>x</h1><img src="data:," onerror="alert(1)">',
      );
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    try {
      const page = await lab().open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      expect(await page.accessibilityProblems()).toEqual([expect.stringMatching(/^image-alt: <img /)]);
      expect(await page.problems()).toContainEqual(
        expect.stringMatching(/^console: .*Content Security Policy/),
      );
      expect(await page.problems()).toContainEqual(expect.stringMatching(/^policy: script-src-attr inline/));
      await expect(page[Symbol.asyncDispose]()).rejects.toThrow('the page had problems');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
