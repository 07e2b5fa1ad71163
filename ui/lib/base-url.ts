/*
 * Addresses below the prefix under which a proxy serves the page. The server knows only the depth of a path
 * (`src/ui/page-base.ts`), the browser knows the rest. It is free of globals, so that tests can construct it.
 */

/** Where the page is, below the prefix that a proxy gives it. All addresses are made of it. */
export class PageBase {
  readonly #url: URL;

  /** @param baseUri of the document; its `<base>` names the directory of the page, whatever the depth of the address */
  constructor(baseUri: string) {
    this.#url = new URL('.', baseUri);
  }

  /** Such as `/ui/` or `/prefix/ui/`. */
  get path(): string {
    return this.#url.pathname;
  }

  /** An absolute path to a page: no base changes it. */
  hrefOf(path: string): string {
    return this.path + path;
  }

  /** An address of the API, such as `now` or `runs?limit=10`. */
  apiUrl(path: string): string {
    return new URL(`../api/v1/${path}`, this.#url).href;
  }

  /** The part of an absolute path below the base; undefined for a path elsewhere. */
  below(href: string): string | undefined {
    return href.startsWith(this.path) ? href.slice(this.path.length) : undefined;
  }
}
