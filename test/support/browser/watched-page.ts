import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2 AA, which contains all that came before it. */
const AXE_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'];
/** Collects reports of the content security policy before anything of the page runs. */
const LISTEN = `globalThis.cspReports = [];
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
  globalThis.cspReports.push(violatedDirective + ' ' + blockedURI + ' ' + sourceFile + ':' + lineNumber));`;

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/**
 * A tab whose errors are collected: of scripts, on the console, of the content security policy. Disposing it closes it, and
 * throws if there was one that the test did not expect.
 */
export class WatchedPage implements AsyncDisposable {
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #problems: string[] = [];
  readonly #expected: RegExp[] = [];

  private constructor(page: Page, context: BrowserContext) {
    this.page = page;
    this.#context = context;
    page.on('console', (message) => {
      if (message.type() === 'error')
        this.#problems.push(`console: ${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => this.#problems.push(`script: ${error.stack ?? error.message}`));
    page.on('crash', () => this.#problems.push('the tab crashed'));
    page.on('dialog', (dialog) => {
      this.#problems.push(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => undefined);
    });
  }

  static async open(context: BrowserContext, url: string): Promise<WatchedPage> {
    const page = await context.newPage();
    const watched = new WatchedPage(page, context);
    await page.addInitScript(LISTEN);
    await page.goto(url);
    return watched;
  }

  /** Errors that the test itself brings about, such as those of a server that is gone. */
  expect(problem: RegExp): void {
    this.#expected.push(problem);
  }

  async problems(): Promise<readonly string[]> {
    const reports = await this.page.evaluate<readonly string[]>('globalThis.cspReports');
    return [...this.#problems, ...reports.map((report) => `policy: ${report}`)].filter(
      (problem) => !this.#expected.some((expected) => expected.test(problem)),
    );
  }

  /** The text that a person reads. */
  async text(): Promise<string> {
    return await this.page.locator('body').innerText();
  }

  /**
   * Violations of WCAG 2.2 AA as they are now, one line for each element.
   *
   * @param rules some rules by their names; default: all
   */
  async accessibilityProblems(rules?: readonly string[]): Promise<readonly string[]> {
    // The policy of the page lets no script in; what the test evaluates is no script of the page.
    if (await this.page.evaluate<boolean>('globalThis.axe === undefined')) await this.page.evaluate(AXE);
    const runOnly = rules === undefined ? AXE_RULES : { type: 'rule', values: rules };
    const options = { runOnly, resultTypes: ['violations'] };
    const { violations } = await this.page.evaluate<AxeResults>(
      `axe.run(document, ${JSON.stringify(options)})`,
    );
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(
        ({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary.replaceAll(/\s+/g, ' ')}`,
      ),
    );
  }

  /** By how many CSS pixels the page is wider than the window. */
  async overflow(): Promise<number> {
    return await this.page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
  }

  /** The elements that end right of the window. */
  async widest(): Promise<string> {
    return await this.page.evaluate<string>(`[...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth)
      .map((element) => element.tagName.toLowerCase() + '.' + element.getAttribute('class'))
      .slice(0, 10)
      .join(' ')`);
  }

  /** Attributes `href` of all links. */
  async links(): Promise<readonly string[]> {
    return await this.page.evaluate<readonly string[]>(
      "[...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))",
    );
  }

  /** What happens to a page when its tab goes to the background: a Chromium without a screen never hides one. */
  async setHidden(isHidden: boolean): Promise<void> {
    await this.page.evaluate(`Object.defineProperties(document, {
      hidden: { configurable: true, value: ${isHidden} },
      visibilityState: { configurable: true, value: '${isHidden ? 'hidden' : 'visible'}' },
    });
    document.dispatchEvent(new Event('visibilitychange'));`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const problems = await this.problems();
    await this.#context.close();
    if (problems.length > 0) throw new Error(`the page had problems:\n${problems.join('\n')}`);
  }
}
