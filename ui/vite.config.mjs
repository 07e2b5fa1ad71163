import { defineConfig } from 'vite';

/** Where `addon-operator ui` says the page of a running operator is, for `npm run ui:dev`. */
const operator = process.env.ADDON_OPERATOR_UI ?? 'http://127.0.0.1:9652';

/** The operator's server inserts the same element; all URLs of the page begin there. */
const base = {
  name: 'base',
  apply: 'serve',
  transformIndexHtml: { order: 'pre', handler: () => [{ tag: 'base', attrs: { href: '/ui/' } }] },
};

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  // Relative, so that the page works below any prefix.
  base: command === 'build' ? './' : '/ui/',
  plugins: [base],
  // Said here, because a build below a test runner would have the places of all elements in it, half as much again.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: command === 'serve' } },
  server: { proxy: { '/api': { target: operator, changeOrigin: true } } },
  build: {
    // The first versions with light-dark().
    target: ['chrome125', 'firefox125', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // They say only that the machine is busy.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
}));
