/**
 * The page of one process through its life. `app/start.ts` shows first the standby, then the operator; the server and its
 * address stay the same, so an open browser tab continues after a change of the leader.
 */

import { fileURLToPath } from 'node:url';
import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { OWN_CODE } from '../own-code.ts';
import type { UiSettings } from '../settings/ui-settings.ts';
import type { UiOptions, UiServer } from './start-ui.ts';
import type { UiContent } from './ui-handler.ts';

interface PageParts {
  readonly settings: UiOptions['settings'] & Pick<UiSettings, 'ui'>;
  readonly host: {
    readonly log: Logger;
    readonly clock: Clock;
    /** Called with the address of the page, and its token if it has one, when it is about the operator. */
    readonly onUi?: (address: string) => void;
  };
  readonly running: AsyncDisposableStack;
}

/** The page, if the settings want it: first of a standby, with high availability, then of the operator. */
export class Page {
  readonly #parts: PageParts;
  #server: UiServer | undefined;

  constructor(parts: PageParts) {
    this.#parts = parts;
  }

  /**
   * From now on the page is about this.
   *
   * @throws OperatorError HTTP_LISTEN when it cannot be served
   */
  async show(content: UiContent): Promise<void> {
    const { settings, host, running } = this.#parts;
    if (settings.ui === 'off') return;
    if (this.#server === undefined) {
      // Not loaded where the page is off.
      const { startUi } = await import('./start-ui.ts');
      const directory = fileURLToPath(new URL('../dist/ui', OWN_CODE));
      this.#server = await startUi({
        settings,
        content,
        directory,
        clock: host.clock,
        log: host.log,
        running,
      });
    } else {
      this.#server.show(content);
      // What the API reads ends before what a standby needs.
      const { stop } = this.#server;
      running.defer(stop);
    }
    if ('api' in content) host.onUi?.(this.#server.address);
  }
}
