/* Keyboard shortcuts of the page: single keys, and `g` followed by a letter within 1.5 s. */

/** The effects of keys: go to a page, search, focus the filter, or show help. */
export interface KeyActions {
  /** Paths by the key after `g`. */
  readonly pages: ReadonlyMap<string, string>;
  readonly go: (path: string) => void;
  readonly search: () => void;
  readonly filter: () => boolean;
  readonly help: () => void;
}

const SEQUENCE_MS = 1_500;

/** Handles keys outside of fields. */
export function listenToKeys({ pages, go, search, filter, help }: KeyActions): void {
  let startedMs = Number.NEGATIVE_INFINITY;
  document.addEventListener('keydown', (event) => {
    if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
      event.preventDefault();
      search();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
    const page = event.timeStamp - startedMs < SEQUENCE_MS ? pages.get(event.key) : undefined;
    startedMs = Number.NEGATIVE_INFINITY;
    if (page !== undefined) go(page);
    else if (event.key === 'g') startedMs = event.timeStamp;
    else if (event.key === '?') help();
    else if (event.key === '/') {
      event.preventDefault();
      search();
    } else if (event.key === 'f' && filter()) event.preventDefault();
  });
}

/** Keys in fields and dialogs belong to them. */
function isTyping({ target }: Event): boolean {
  return target instanceof Element && target.closest('input, select, textarea, dialog') !== null;
}
