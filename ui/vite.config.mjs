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
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
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
